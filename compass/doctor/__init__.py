"""`compass doctor`: whether this machine and this folder can run the pipeline, and how to mend what stands in the way."""
