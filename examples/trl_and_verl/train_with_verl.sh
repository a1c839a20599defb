#!/usr/bin/env bash
# GRPO by verl with the verifier as its reward: the usual command, and the two settings that name the reward.
# train.parquet has verl's columns: prompt, data_source, reward_model.ground_truth, extra_info.question.
#   examples/trl_and_verl/train_with_verl.sh MODEL train.parquet test.parquet [more settings]
set -euo pipefail
python -m verl.trainer.main_ppo \
  algorithm.adv_estimator=grpo \
  actor_rollout_ref.model.path="$1" \
  data.train_files="$2" \
  data.val_files="$3" \
  actor_rollout_ref.rollout.n=8 \
  reward.custom_reward_function.path=pkg://compass.integrations.verl \
  reward.custom_reward_function.name=compute_score \
  "${@:4}"
