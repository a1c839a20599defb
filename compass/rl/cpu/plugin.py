"""What `VERL_USE_EXTERNAL_MODULES` names: verl imports this module in every process, and the import applies the patches.

It is the only module of the project whose import does something; verl offers no function to call instead.
"""

from compass.rl.cpu import patches

patches.apply()
