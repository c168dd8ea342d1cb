"""Documents for programs, each with its schema: the result of a run and the judgement of logs."""
