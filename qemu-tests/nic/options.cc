// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "options.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <getopt.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "faults.h"

namespace nic
{

namespace
{

constexpr u64 max_size = 1ull << 42;
constexpr u64 min_limit = 64 << 20;
constexpr u64 max_dm = 1 << 30;
constexpr u64 dm_unit = 64 << 10; // pages of any guest

const char usage[] =
	R"(usage: ornic-nic --guest socket=PATH,ram=FILE[,KEY=VALUE...] [OPTION...]
       ornic-nic --ask PATH COMMAND

Emulates ornic PCI NICs for QEMU guests, using ivshmem-doorbell.

  --guest KEY=VALUE,...  a guest and its NIC; once per guest
      socket=PATH          where QEMU's chardev connects
      ram=FILE             mem-path of the guest's RAM; the file must exist
      size=BYTES           of the RAM, with K, M or G (size of the file)
      machine=any|q35|pc|virt
                           RAM layout (any: detected with the help of the
                           driver)
      mem-limit=BYTES      of host memory for the NIC (a quarter of
                           the RAM, at least 64M)
      dm=BYTES             device memory (16M): 0, or a multiple of 64K
      mac=MAC              of the NIC and of the guest's virtio-net
      vectors=N            MSI-X messages, as vectors= of the device (5):
                           one for control, N - 1 completion vectors
      pkey=INDEX:KEY       an entry of the P_Key table, KEY 0: none (0:0xffff);
                           once per entry
      netdev=PORT          the guest's virtio-net
      spoof=on|off         allow the guest other source MACs than mac (off)
      roce-v1=on|off       RoCE v1 beside RoCEv2 (off)
  --wire PORT            port to other hosts
  --control PATH         socket for commands; responses are JSON
  --ask PATH COMMAND     send a command to the control socket PATH: guests,
                         stats, impair [RULE | clear], faults KEY=VALUE...,
                         crash, hang
  --faults KEY=VALUE,... for RoCE frames: loss=P, corrupt=P (0 to 1), delay=TIME
                         (us, ms, s), seed=N
  --impair RULE          lose, double, delay... single RoCE packets, for instance
                         'tx type=rc op=request psn=+2 drop'; once per rule
  --capture FILE         write all frames to FILE (pcapng)
  --packets              use packets between guests of this process, instead of
                         copying from memory to memory
  --spin TIME            busy poll time before sleeping (800ns)
  --max-spin TIME        maximum busy poll time for a busy guest, unless the CPU
                         is contended (4ms)
  --user NAME            switch to this user after opening the sockets
  --mode MODE            of UNIX sockets, octal (0600)
  --group NAME           of UNIX sockets
  --debug                allow the commands impair, faults, crash and hang
  -h, --help, -V, --version

PORT is one of
  unix:LOCAL:REMOTE            -netdev dgram,local.type=unix,remote.type=unix
  udp:HOST:PORT:HOST:PORT      -netdev dgram,local.type=inet,...
  mcast:GROUP:PORT             -netdev socket,mcast= or dgram to a group
  listen:PATH, listen:HOST:PORT      -netdev stream, or socket,connect=
  connect:PATH, connect:HOST:PORT    -netdev stream,server=on
where LOCAL and the first HOST:PORT are of ornic-nic.

  ornic-nic --guest socket=/run/ornic/a,ram=/dev/shm/a,mac=52:54:00:00:00:01
  qemu-system-x86_64 -machine q35,memory-backend=ram -m 1G \
    -object memory-backend-file,id=ram,size=1G,mem-path=/dev/shm/a,share=on \
    -chardev socket,id=nic,path=/run/ornic/a \
    -device ivshmem-doorbell,chardev=nic,vectors=5 ...
)";

enum {
	OPT_GUEST = 256,
	OPT_WIRE,
	OPT_CONTROL,
	OPT_ASK,
	OPT_FAULTS,
	OPT_IMPAIR,
	OPT_CAPTURE,
	OPT_PACKETS,
	OPT_SPIN,
	OPT_MAX_SPIN,
	OPT_USER,
	OPT_MODE,
	OPT_GROUP,
	OPT_DEBUG,
	OPT_HELP = 'h',
	OPT_VERSION = 'V',
};

const struct option longs[] = {
	{ "guest", required_argument, nullptr, OPT_GUEST },
	{ "wire", required_argument, nullptr, OPT_WIRE },
	{ "control", required_argument, nullptr, OPT_CONTROL },
	{ "ask", required_argument, nullptr, OPT_ASK },
	{ "faults", required_argument, nullptr, OPT_FAULTS },
	{ "impair", required_argument, nullptr, OPT_IMPAIR },
	{ "capture", required_argument, nullptr, OPT_CAPTURE },
	{ "packets", no_argument, nullptr, OPT_PACKETS },
	{ "spin", required_argument, nullptr, OPT_SPIN },
	{ "max-spin", required_argument, nullptr, OPT_MAX_SPIN },
	{ "user", required_argument, nullptr, OPT_USER },
	{ "mode", required_argument, nullptr, OPT_MODE },
	{ "group", required_argument, nullptr, OPT_GROUP },
	{ "debug", no_argument, nullptr, OPT_DEBUG },
	{ "help", no_argument, nullptr, OPT_HELP },
	{ "version", no_argument, nullptr, OPT_VERSION },
	{},
};

/** Remove and return the part of @text up to the first @mark that is neither in
 *  brackets nor escaped by a backslash; all of it if there is none. */
std::string next_field(std::string &text, char mark)
{
	bool inside = false;
	std::string head;
	std::size_t i;

	for (i = 0; i < text.size() && (text[i] != mark || inside); i++) {
		inside = text[i] == '[' || (inside && text[i] != ']');
		head += text[i];
		if (text[i] == '\\' && i + 1 < text.size())
			head += text[++i];
	}
	text = i < text.size() ? text.substr(i + 1) : "";
	return head;
}

/** Remove the backslashes, which next_field() keeps. */
std::string unescape(const std::string &text)
{
	std::string result;

	for (std::size_t i = 0; i < text.size(); i++) {
		if (text[i] == '\\' && i + 1 < text.size())
			i++;
		result += text[i];
	}
	return result;
}

bool parse_number(const std::string &text, u64 &value, const char **rest)
{
	char *end;

	if (text.empty() || text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	value = strtoull(text.c_str(), &end, 10);
	*rest = end;
	return !errno;
}

bool parse_size(const std::string &text, u64 &size)
{
	const char *rest;
	u64 unit = 1;

	if (!parse_number(text, size, &rest))
		return false;
	if (*rest) {
		const char *letters = "KMG";
		const char *at = strchr(letters, *rest);

		if (!at || rest[1])
			return false;
		unit <<= 10 * (at - letters + 1);
	}
	if (size > max_size / unit)
		return false;
	size *= unit;
	return size;
}

bool parse_dm(const std::string &text, u64 &size)
{
	if (text == "0") {
		size = 0;
		return true;
	}
	return parse_size(text, size) && size <= max_dm && !(size % dm_unit);
}

bool parse_time(const std::string &text, u64 &ns)
{
	const char *rest;

	if (!parse_number(text, ns, &rest) || ns > 1000000000)
		return false;
	if (!strcmp(rest, "ns"))
		return true;
	if (!strcmp(rest, "us"))
		ns *= us;
	else if (!strcmp(rest, "ms"))
		ns *= ms;
	else if (!strcmp(rest, "s"))
		ns *= 1000 * ms;
	else
		return false;
	return ns <= 3600ULL * 1000 * ms;
}

bool parse_chance(const std::string &text, double &p)
{
	char *end;

	p = strtod(text.c_str(), &end);
	return !text.empty() && !*end && p >= 0 && p <= 1;
}

bool parse_mac(const std::string &text, u8 *mac)
{
	int n = 0;

	return sscanf(text.c_str(), "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx%n", &mac[0],
		      &mac[1], &mac[2], &mac[3], &mac[4], &mac[5], &n) == 6 &&
	       n == static_cast<int>(text.size()) && !(mac[0] & 1);
}

/** "1:0x8001". Only the low 15 bits tell partitions apart, and 0 is none. */
bool parse_pkey(const std::string &text,
		std::array<u16, ORNIC_PKEY_TABLE_LEN> &pkeys)
{
	unsigned long pkey;
	const char *rest;
	char *end;
	u64 index;

	if (!parse_number(text, index, &rest) || index >= pkeys.size() ||
	    *rest++ != ':' || *rest < '0' || *rest > '9')
		return false;
	pkey = strtoul(rest, &end, 0);
	if (*end || pkey > 0xffff || pkey == 0x8000)
		return false;
	pkeys[index] = static_cast<u16>(pkey);
	return true;
}

bool parse_machine(const std::string &text, machine &type)
{
	for (machine m :
	     { machine::any, machine::pc, machine::q35, machine::virt }) {
		type = m;
		if (text == machine_name(m))
			return true;
	}
	return false;
}

bool fits_unix(const std::string &path)
{
	return !path.empty() && path.size() < sizeof(sockaddr_un::sun_path);
}

port_config parse_port(const std::string &text)
{
	std::string rest = text, how = next_field(rest, ':');
	port_config p;

	if (how == "unix") {
		p.kind = port_kind::UNIX;
		p.local = unescape(next_field(rest, ':'));
		p.remote = unescape(rest);
		if (!fits_unix(p.local) || !fits_unix(p.remote))
			die("%s: unix:LOCAL:REMOTE expected", text.c_str());
		return p;
	}
	if (how == "udp") {
		p.kind = port_kind::UDP;
		p.local = next_field(rest, ':');
		p.local += ":" + next_field(rest, ':');
		p.remote = rest;
	} else if (how == "mcast") {
		p.kind = port_kind::MCAST;
		p.remote = rest;
	} else if (how == "listen") {
		p.kind = port_kind::LISTEN;
		p.local = unescape(rest);
	} else if (how == "connect") {
		p.kind = port_kind::CONNECT;
		p.remote = unescape(rest);
	} else {
		die("%s: not a port; see --help", text.c_str());
	}
	if (p.local.empty() && p.remote.empty())
		die("%s: address missing", text.c_str());
	return p;
}

void set_guest(guest_config &g, const std::string &key,
	       const std::string &value)
{
	const char *rest = "";
	u64 n = 0;

	if (key == "socket" && fits_unix(unescape(value))) {
		g.socket = unescape(value);
	} else if (key == "ram" && !value.empty()) {
		g.ram = unescape(value);
	} else if ((key == "size" && parse_size(value, g.size)) ||
		   (key == "mem-limit" && parse_size(value, g.mem_limit)) ||
		   (key == "dm" && parse_dm(value, g.dm)) ||
		   (key == "machine" && parse_machine(value, g.machine)) ||
		   (key == "mac" && parse_mac(value, g.mac)) ||
		   (key == "pkey" && parse_pkey(value, g.pkeys))) {
		/* parsed into g */
	} else if (key == "vectors" && parse_number(value, n, &rest) &&
		   !*rest && n >= 2 && n <= ORNIC_PCI_MAX_MSGS) {
		g.vectors = static_cast<u32>(n);
	} else if (key == "spoof" && (value == "on" || value == "off")) {
		g.spoof = value == "on";
	} else if (key == "roce-v1" && (value == "on" || value == "off")) {
		g.roce_v1 = value == "on";
	} else if (key == "netdev") {
		g.netdev = parse_port(value);
	} else {
		die("--guest: invalid %s=%s; see --help", key.c_str(),
		    value.c_str());
	}
}

guest_config parse_guest(std::string text, std::size_t index)
{
	guest_config g;

	// Locally administered, derived from the index.
	g.mac[0] = 0x52;
	g.mac[1] = 0x54;
	g.mac[5] = static_cast<u8>(index + 1);
	while (!text.empty()) {
		std::string value = next_field(text, ',');
		std::string key = next_field(value, '=');

		set_guest(g, key, value);
	}
	if (g.socket.empty() || g.ram.empty())
		die("--guest: socket= and ram= are required");
	return g;
}

/** Check that the RAM file exists and has the configured size. */
void check_ram(guest_config &g)
{
	struct stat st;

	if (stat(g.ram.c_str(), &st))
		die("%s: cannot open guest RAM: %s", g.ram.c_str(),
		    strerror(errno));
	if (!S_ISREG(st.st_mode))
		die("%s: guest RAM must be a regular file", g.ram.c_str());
	if (!g.size)
		g.size = static_cast<u64>(st.st_size);
	if (g.size != static_cast<u64>(st.st_size))
		die("%s: has %llu bytes, but size= is %llu", g.ram.c_str(),
		    static_cast<unsigned long long>(st.st_size),
		    static_cast<unsigned long long>(g.size));
	if (!g.mem_limit)
		g.mem_limit = std::max(g.size / 4, min_limit);
	if (!g.size || g.size & 4095)
		die("%s: %llu bytes: invalid RAM size", g.ram.c_str(),
		    static_cast<unsigned long long>(g.size));
}

void check(options &opt)
{
	if (!opt.ask_path.empty())
		return;
	if (opt.guests.empty())
		die("--guest is required; see --help");
	for (std::size_t i = 0; i < opt.guests.size(); i++) {
		check_ram(opt.guests[i]);
		for (std::size_t k = 0; k < i; k++) {
			if (!memcmp(opt.guests[i].mac, opt.guests[k].mac, 6))
				die("two guests have MAC address %s",
				    mac_text(opt.guests[i].mac).c_str());
			if (opt.guests[i].ram == opt.guests[k].ram)
				die("two guests have the RAM %s",
				    opt.guests[i].ram.c_str());
			if (opt.guests[i].socket == opt.guests[k].socket)
				die("two guests have the socket %s",
				    opt.guests[i].socket.c_str());
		}
	}
}

mode_t parse_mode(const char *text)
{
	char *end;
	unsigned long mode = strtoul(text, &end, 8);

	if (!*text || *end || mode > 0777)
		die("--mode: invalid mode %s, expected 0660 or similar", text);
	return static_cast<mode_t>(mode);
}

gid_t parse_group(const char *name)
{
	const group *gr = getgrnam(name);

	if (!gr)
		die("--group: unknown group %s", name);
	return gr->gr_gid;
}

void print_version()
{
	const ornic_crc32_choice &crc = select_crc32();

	printf("ornic-nic %s, device interface version %u\n"
	       "CRC-32 by %s, %u MB/s (%s %u MB/s)\n",
	       ORNIC_VERSION, ORNIC_HW_VERSION, crc.algo->name, crc.speed,
	       ornic_crc32_algos[0].name, crc.table_speed);
}

std::string parse_rule(const std::string &text, std::size_t have)
{
	ornic_impair_rule rule;
	std::string why = impairments::parse(text, rule);

	if (!why.empty())
		die("--impair: %s", why.c_str());
	if (have == ORNIC_IMPAIR_RULES)
		die("--impair: more than %u rules", ORNIC_IMPAIR_RULES);
	return text;
}

void set_option(options &opt, int what)
{
	switch (what) {
	case OPT_GUEST:
		opt.guests.push_back(parse_guest(optarg, opt.guests.size()));
		break;
	case OPT_WIRE:
		opt.wire = parse_port(optarg);
		break;
	case OPT_CONTROL:
		opt.control = optarg;
		if (!fits_unix(opt.control))
			die("%s: path too long for a socket", optarg);
		break;
	case OPT_ASK:
		opt.ask_path = optarg;
		break;
	case OPT_FAULTS:
		if (!opt.faults.parse(optarg))
			die("--faults: invalid value %s", optarg);
		break;
	case OPT_IMPAIR:
		opt.rules.push_back(parse_rule(optarg, opt.rules.size()));
		break;
	case OPT_CAPTURE:
		opt.capture = optarg;
		break;
	case OPT_PACKETS:
		opt.packets = true;
		break;
	case OPT_SPIN:
		if (!parse_time(optarg, opt.spin))
			die("--spin: invalid time %s, expected 50us or similar",
			    optarg);
		break;
	case OPT_MAX_SPIN:
		if (!parse_time(optarg, opt.max_spin))
			die("--max-spin: invalid time %s, expected 4ms or similar",
			    optarg);
		break;
	case OPT_USER:
		opt.user = optarg;
		break;
	case OPT_MODE:
		opt.access.mode = parse_mode(optarg);
		break;
	case OPT_GROUP:
		opt.access.group = parse_group(optarg);
		break;
	case OPT_DEBUG:
		opt.debug = true;
		break;
	case OPT_HELP:
		fputs(usage, stdout);
		exit(EXIT_SUCCESS);
	case OPT_VERSION:
		print_version();
		exit(EXIT_SUCCESS);
	default:
		die("see --help");
	}
}

} // namespace

bool fault_config::parse(const std::string &text)
{
	std::string left = text;
	const char *rest = "";
	fault_config f;

	while (!left.empty()) {
		std::string value = next_field(left, ',');
		std::string key = next_field(value, '=');

		if (key == "loss"    ? !parse_chance(value, f.loss) :
		    key == "corrupt" ? !parse_chance(value, f.corrupt) :
		    key == "delay"   ? !parse_time(value, f.delay) :
		    key == "seed"    ? !parse_number(value, f.seed, &rest) ||
					    *rest :
				    true)
			return false;
	}
	*this = f;
	return true;
}

options parse_options(int argc, char **argv)
{
	options opt;
	int what;

	while ((what = getopt_long(argc, argv, "+hV", longs, nullptr)) != -1)
		set_option(opt, what);
	while (!opt.ask_path.empty() && optind < argc) {
		opt.ask_what += opt.ask_what.empty() ? "" : " ";
		opt.ask_what += argv[optind++];
	}
	if (optind < argc)
		die("unexpected argument %s; see --help", argv[optind]);
	check(opt);
	return opt;
}

} // namespace nic
