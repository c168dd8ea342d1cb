// The subcommands. Each takes the arguments after its own name and returns the program's exit
// status.
#pragma once

#include <string>
#include <vector>

namespace wireproof {

using Arguments = std::vector<std::string>;

// The program's own failure, as in env(1) and nohup(1); 126 and 127 belong to the command.
inline constexpr int kOwnFailure = 125;
// ssh's own failure, which MPI launchers expect of a remote-shell agent.
inline constexpr int kAgentFailure = 255;
// The deadline has passed, as in timeout(1).
inline constexpr int kDeadlinePassed = 124;

int hold(const Arguments& arguments);
int enter(const Arguments& arguments);
int agent(const Arguments& arguments);
int guard(const Arguments& arguments);
int sockets(const Arguments& arguments);
int wire_command(const Arguments& arguments);
int tune_command(const Arguments& arguments);

}  // namespace wireproof
