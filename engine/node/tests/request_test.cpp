// Requests and messages over a socket pair, whole and torn.
#include "node/request.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>

namespace wireproof {
namespace {

struct Ends {
  Fd client;
  Fd supervisor;
};

Ends connected() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail_errno("socketpair");
  return {Fd(ends[0]), Fd(ends[1])};
}

Request request() {
  Request made;
  made.node = "n3";
  made.directory = "/tmp";
  made.arguments = {"program", "--flag", "", "with space and \"quotes\"", "line\nbreak"};
  made.environment = {"A=1", "EMPTY=", "PATH=/usr/bin:/bin"};
  made.inheritance = current_inheritance();
  for (Fd& stream : made.streams) stream = Fd(open("/dev/null", O_RDWR | O_CLOEXEC));
  return made;
}

std::string failure_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

TEST(Request, ArrivesAsItWasSent) {
  const Ends ends = connected();
  const Request sent = request();
  send_request(ends.client, sent);
  const Request got = receive_request(ends.supervisor);
  EXPECT_EQ(got.node, sent.node);
  EXPECT_EQ(got.directory, sent.directory);
  EXPECT_EQ(got.arguments, sent.arguments);
  EXPECT_EQ(got.environment, sent.environment);
  EXPECT_EQ(got.inheritance.file_mask, sent.inheritance.file_mask);
  EXPECT_TRUE(CPU_EQUAL(&got.inheritance.processors, &sent.inheritance.processors));
  for (std::size_t kind = 0; kind < RLIM_NLIMITS; ++kind) {
    EXPECT_EQ(got.inheritance.limits[kind].rlim_cur, sent.inheritance.limits[kind].rlim_cur);
    EXPECT_EQ(got.inheritance.limits[kind].rlim_max, sent.inheritance.limits[kind].rlim_max);
  }
}

TEST(Request, ItsStreamsAreThoseOfTheClient) {
  const Ends ends = connected();
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const Fd reader(pipe_ends[0]);
  Request sent = request();
  sent.streams[1] = Fd(pipe_ends[1]);
  send_request(ends.client, sent);
  sent.streams[1].reset();
  Request got = receive_request(ends.supervisor);
  ASSERT_EQ(write(got.streams[1].get(), "hello", 5), 5);
  char text[8] = {};
  EXPECT_EQ(read(reader.get(), text, sizeof text), 5);
  EXPECT_STREQ(text, "hello");
  EXPECT_NE(fcntl(got.streams[0].get(), F_GETFD) & FD_CLOEXEC, 0) << "no other child gets them";
}

TEST(Request, LargerThanTheSocketsBufferArrives) {
  const Ends ends = connected();
  Request sent = request();
  for (int i = 0; i < 2000; ++i) sent.environment.push_back("V=" + std::string(500, 'x'));
  std::thread client([&] { send_request(ends.client, sent); });
  const Request got = receive_request(ends.supervisor);
  client.join();
  EXPECT_EQ(got.environment, sent.environment);
}

TEST(Request, MoreThanSixteenMebibytesAreRefusedBeforeAnythingIsSent) {
  const Ends ends = connected();
  Request sent = request();
  sent.environment.emplace_back(17U << 20, 'x');
  EXPECT_NE(failure_of([&] { send_request(ends.client, sent); }).find("16 MiB"), std::string::npos);
  char byte = 0;
  EXPECT_LT(recv(ends.supervisor.get(), &byte, 1, MSG_DONTWAIT), 0);
}

TEST(Request, WithoutACommandIsRefused) {
  const Ends ends = connected();
  Request sent = request();
  sent.arguments.clear();
  send_request(ends.client, sent);
  EXPECT_EQ(failure_of([&] { receive_request(ends.supervisor); }), "the request has no command");
}

TEST(Request, OfAnotherVersionSaysWhatToDo) {
  const Ends ends = connected();
  const std::string foreign(4096, 'w');
  ASSERT_GT(send(ends.client.get(), foreign.data(), foreign.size(), 0), 0);
  const std::string said = failure_of([&] { receive_request(ends.supervisor); });
  EXPECT_NE(said.find("version"), std::string::npos) << said;
  EXPECT_NE(said.find("down and up"), std::string::npos) << said;
}

TEST(Request, AClientThatLeavesAtOnceIsNoRequest) {
  Ends ends = connected();
  ends.client.reset();
  EXPECT_NE(failure_of([&] { receive_request(ends.supervisor); }), "");
}

TEST(Request, AClientThatEndsInTheMiddleIsSaid) {
  Ends ends = connected();
  Request sent = request();
  for (int i = 0; i < 4000; ++i) sent.environment.push_back("V=" + std::string(500, 'x'));
  const pid_t client = fork();
  if (client == 0) {
    send_request(ends.client, sent);  // more than the socket holds, so it waits for a reader
    _exit(0);
  }
  ends.client.reset();
  int waiting = 0;
  while (waiting < 4096) ioctl(ends.supervisor.get(), FIONREAD, &waiting);
  kill(client, SIGKILL);
  waitpid(client, nullptr, 0);
  EXPECT_EQ(failure_of([&] { receive_request(ends.supervisor); }), "a request was cut short");
}

TEST(Messages, EveryTagArrivesWithItsText) {
  const Ends ends = connected();
  for (const Tag tag : {Tag::kSignal, Tag::kEnded, Tag::kRefused}) {
    for (const std::string& text : {std::string(), std::string("15"), std::string("a\0b", 3)}) {
      send_message(ends.client, tag, text);
      Tag got = Tag::kRefused;
      std::string said;
      ASSERT_TRUE(receive_message(ends.supervisor, got, said));
      EXPECT_EQ(got, tag);
      EXPECT_EQ(said, text);
    }
  }
}

TEST(Messages, ComeInTheirOrder) {
  const Ends ends = connected();
  for (int i = 0; i < 20; ++i) send_message(ends.client, Tag::kSignal, std::to_string(i));
  for (int i = 0; i < 20; ++i) {
    Tag tag{};
    std::string text;
    ASSERT_TRUE(receive_message(ends.supervisor, tag, text));
    EXPECT_EQ(text, std::to_string(i));
  }
}

TEST(Messages, APeerThatHasGoneIsSeen) {
  Ends ends = connected();
  ends.client.reset();
  Tag tag{};
  std::string text;
  EXPECT_FALSE(receive_message(ends.supervisor, tag, text));
}

TEST(Messages, ATornOneIsNone) {
  Ends ends = connected();
  const char bytes[] = {'X', 9, 0, 0, 0, 'a', 'b'};  // nine bytes are announced, two follow
  ASSERT_EQ(send(ends.client.get(), bytes, sizeof bytes, 0), static_cast<ssize_t>(sizeof bytes));
  ends.client.reset();
  Tag tag{};
  std::string text;
  EXPECT_FALSE(receive_message(ends.supervisor, tag, text));
}

TEST(Messages, AnAbsurdLengthIsNotBelieved) {
  const Ends ends = connected();
  const std::uint32_t size = 0x7fffffff;
  std::string bytes = "E";
  bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
  ASSERT_GT(send(ends.client.get(), bytes.data(), bytes.size(), 0), 0);
  Tag tag{};
  std::string text;
  EXPECT_FALSE(receive_message(ends.supervisor, tag, text));
}

TEST(Messages, SendingToAPeerThatHasGoneIsAFailureAndNoSignal) {
  Ends ends = connected();
  ends.supervisor.reset();
  EXPECT_NE(failure_of([&] { send_message(ends.client, Tag::kEnded, "0"); }), "");
}

/// Runs in a child, so that the tests keep their own state.
int in_child(const std::function<int()>& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  waitpid(child, &status, 0);
  return shell_status(status);
}

TEST(Inheritance, IsTakenOn) {
  Inheritance wanted = current_inheritance();
  wanted.file_mask = 0123;
  wanted.limits[RLIMIT_NOFILE].rlim_cur = 77;
  EXPECT_EQ(in_child([&] {
              take_on(wanted);
              const Inheritance got = current_inheritance();
              return got.file_mask == 0123 && got.limits[RLIMIT_NOFILE].rlim_cur == 77 ? 0 : 1;
            }),
            0);
}

TEST(Inheritance, LookingLeavesTheFileMaskAsItWas) {
  EXPECT_EQ(in_child([] {
              umask(0027);
              const Inheritance found = current_inheritance();
              return found.file_mask == 0027 && umask(0) == 0027 ? 0 : 1;
            }),
            0);
}

TEST(Inheritance, ProcessorsAreTakenOn) {
  const Inheritance here = current_inheritance();
  int first = 0;
  while (!CPU_ISSET(first, &here.processors)) ++first;
  EXPECT_EQ(in_child([&] {
              Inheritance one = here;
              CPU_ZERO(&one.processors);
              CPU_SET(first, &one.processors);
              take_on(one);
              cpu_set_t got;
              sched_getaffinity(0, sizeof got, &got);
              return CPU_EQUAL(&got, &one.processors) ? 0 : 1;
            }),
            0);
}

}  // namespace
}  // namespace wireproof
