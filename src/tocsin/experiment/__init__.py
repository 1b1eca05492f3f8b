"""Many runs: plans, executors, stores, intervals, sensitivity, optimisation."""
