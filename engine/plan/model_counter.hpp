// The statement `model_counter`: a file that the model moves as an adapter's counter.
#pragma once

#include "base/statement.hpp"
#include "plan/plan.hpp"

namespace wireproof {

ModelCounter take_model_counter(Statement& line);

/// Files are written only by the model, and only below a folder that was given for that.
void check_model_counters(const Plan& plan);

}  // namespace wireproof
