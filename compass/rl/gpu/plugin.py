"""What `VERL_USE_EXTERNAL_MODULES` names on GPUs where a stage has a critic: verl imports it in every process, which applies the change."""

from compass.rl import weights

weights.replace_loader()
