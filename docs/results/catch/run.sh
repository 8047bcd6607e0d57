#!/usr/bin/env bash
# Every agent in both modes on Catch, two seeds each: about twenty minutes on two cores. Run it from the project's root.
set -euo pipefail
settings=(--env gym/rgvf/Catch-v0 --seeds 2 --frames 300000 --steps 10 --learning-rate 2e-3 --rms-epsilon 1e-7
  --depth 4 --repeat 8 --log-every 10000)
.venv/bin/rgvf train "${settings[@]}" --agent a2c --out runs/catch/a2c
for task in rgvf rgvf-no-actions rgvf-shallow rgvf-discounted-sum mhvp reward-prediction termination-prediction \
  pixel-control curl rgvf+pixel-control; do
  .venv/bin/rgvf train "${settings[@]}" --agent "$task" --out "runs/catch/$task"
  .venv/bin/rgvf train "${settings[@]}" --agent "$task" --stop-gradient --out "runs/catch/$task-stop-gradient"
done
