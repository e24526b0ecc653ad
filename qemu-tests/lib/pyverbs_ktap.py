#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Run the tests of rdma-core and report them in KTAP.

  pyverbs_ktap.py FOLDER SECONDS PATTERN [OPTIONS OF THE TESTS...]

FOLDER contains the unchanged package "tests". Runs the tests whose name matches the
regular expression PATTERN; a test that takes longer than SECONDS fails. The last line
is "# P passed, F failed, S skipped"; the exit status is 1 if a test failed or none
passed.
"""

import multiprocessing
import re
import signal
import sys
import unittest

# Modules with tests for specific hardware.
VENDORS = ("mlx5", "efa", "cuda")


class TookTooLong(Exception):
    """Raised by SIGALRM in a test."""


def flatten(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flatten(test)
        else:
            yield test


def is_generic(test):
    module = type(test).__module__.split(".")[-1]
    return not any(vendor in module for vendor in VENDORS)


class KtapResult(unittest.TestResult):
    """Prints one line per test, after its errors."""

    def __init__(self, seconds):
        super().__init__()
        self.seconds = seconds
        self.number = self.passed = self.failed = self.skips = 0
        self.reported = False

    def report(self, verdict, test, remark=""):
        if self.reported:
            return
        self.reported = True
        self.number += 1
        line = f"{verdict} {self.number} {test.id()}"
        print(line + (f" # {remark}" if remark else ""), flush=True)

    def fail(self, test, error):
        if not self.reported:
            self.failed += 1
            print(self._exc_info_to_string(error, test), flush=True)
        self.report("not ok", test)

    def startTest(self, test):
        super().startTest(test)
        self.reported = False
        signal.alarm(self.seconds)

    def stopTest(self, test):
        signal.alarm(0)
        super().stopTest(test)

    def addSuccess(self, test):
        self.passed += not self.reported
        self.report("ok", test)

    def addSkip(self, test, reason):
        self.skips += not self.reported
        self.report("ok", test, f"SKIP {' '.join(str(reason).split())}")

    def addFailure(self, test, err):
        self.fail(test, err)

    def addError(self, test, err):
        self.fail(test, err)

    def addSubTest(self, test, subtest, err):
        if err:
            self.fail(test, err)

    def addExpectedFailure(self, test, err):
        self.addSuccess(test)

    def addUnexpectedSuccess(self, test):
        self.failed += not self.reported
        self.report("not ok", test, "unexpected success")


def on_alarm(_signal, _frame):
    raise TookTooLong


def main():
    folder, seconds, pattern = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    sys.argv[1:] = sys.argv[4:]
    # Like run_tests.py of rdma-core.
    sys.path[:0] = [folder, folder + "/tests"]
    import tests  # pylint: disable=import-outside-toplevel
    from args_parser import parser  # pylint: disable=import-outside-toplevel
    parser.parse_args()
    signal.signal(signal.SIGALRM, on_alarm)
    # The tests start methods of objects that cannot be pickled, as the default start
    # method of Python 3.14 does.
    multiprocessing.set_start_method("fork")
    suite = unittest.defaultTestLoader.loadTestsFromModule(tests)
    chosen = [t for t in flatten(suite)
              if is_generic(t) and re.search(pattern, t.id())]
    result = KtapResult(seconds)
    unittest.TestSuite(chosen).run(result)
    print(f"# {result.passed} passed, {result.failed} failed, "
          f"{result.skips} skipped", flush=True)
    return 1 if result.failed or not result.passed else 0


if __name__ == "__main__":
    sys.exit(main())
