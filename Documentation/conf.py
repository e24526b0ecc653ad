# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# make html builds these pages into build/html, make check without a warning.

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "sphinx"))

project = "ornic"
author = "the authors of ornic"
copyright = "GPL-2.0 OR BSD-2-Clause"  # pylint: disable=redefined-builtin
extensions = ["kerneldoc", "sphinx.ext.graphviz"]
graphviz_output_format = "svg"
html_theme = "alabaster"
html_theme_options = {"page_width": "70em", "show_powered_by": False}
html_show_sphinx = False
html_copy_source = False
highlight_language = "none"
