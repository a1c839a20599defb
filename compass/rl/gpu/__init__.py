"""What only runs with GPUs load: the module that verl imports in every process where a stage has a critic."""
