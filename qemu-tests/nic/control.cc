// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "control.h"

#include <sys/socket.h>

#include "sockets.h"

namespace nic
{

namespace
{

constexpr std::size_t max_line = 1024;
constexpr std::size_t max_clients = 16;

bool send_all(int fd, const std::string &text)
{
	return send(fd, text.data(), text.size(), MSG_NOSIGNAL) ==
	       static_cast<ssize_t>(text.size());
}

} // namespace

control_server::control_server(int listener, int epoll, u64 tag, handler answer)
	: listener_(listener)
	, epoll_(epoll)
	, tag_(tag)
	, answer_(std::move(answer))
{
	if (listener_ >= 0)
		watch(listener_);
}

void control_server::watch(int fd)
{
	epoll_event ev{};

	ev.events = EPOLLIN;
	ev.data.u64 = tag_ | static_cast<u32>(fd);
	epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &ev);
}

void control_server::accept_one()
{
	unique_fd fd(accept4(listener_, nullptr, nullptr,
			     SOCK_NONBLOCK | SOCK_CLOEXEC));
	int number = fd.get();

	if (!fd || clients_.size() >= max_clients)
		return;
	watch(number);
	clients_[number].fd = std::move(fd);
}

// Handle complete lines. False: the client disconnected or sent garbage.
bool control_server::read_from(client &c)
{
	char buffer[max_line];
	ssize_t n = recv(c.fd.get(), buffer, sizeof(buffer), 0);
	std::size_t end;

	if (n <= 0)
		return false;
	c.input.append(buffer, static_cast<std::size_t>(n));
	while ((end = c.input.find('\n')) != std::string::npos) {
		std::string line = c.input.substr(0, end);

		c.input.erase(0, end + 1);
		if (!send_all(c.fd.get(), answer_(line) + "\n"))
			return false;
	}
	return c.input.size() < max_line;
}

void control_server::serve(const epoll_event &event)
{
	int fd = static_cast<int>(static_cast<u32>(event.data.u64));

	if (fd == listener_) {
		accept_one();
		return;
	}

	auto found = clients_.find(fd);

	if (found != clients_.end() && !read_from(found->second))
		clients_.erase(found);
}

int ask(const std::string &path, const std::string &what)
{
	unique_fd fd = connect_to(path);
	std::string line;
	char buffer[4096];
	ssize_t n;

	if (!send_all(fd.get(), what + "\n"))
		die("%s: no server", path.c_str());
	while ((n = recv(fd.get(), buffer, sizeof(buffer), 0)) > 0) {
		line.append(buffer, static_cast<std::size_t>(n));
		if (line.back() == '\n')
			break;
	}
	fputs(line.c_str(), stdout);
	return line.empty() || line.starts_with("{\"error\"");
}

} // namespace nic
