// The statement `model_counter`: a file that the model updates as an adapter updates a counter.
#pragma once

#include "base/statement.hpp"
#include "plan/plan.hpp"

namespace wireproof {

ModelCounter take_model_counter(Statement& line);

/// Only the model writes these files, and only below a folder that was given for that purpose.
void check_model_counters(const Plan& plan);

}  // namespace wireproof
