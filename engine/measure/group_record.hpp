// Writes the `group` of the point frame as text (docs/reference/engine-interface.md).
#pragma once

#include <string>

#include "measure/group_leader.hpp"

namespace wireproof {

std::string group_json(const GroupOutcome& outcome, const Point& point);

}  // namespace wireproof
