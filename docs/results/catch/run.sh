#!/usr/bin/env bash
# Every agent in both modes on Catch: about twenty minutes on two cores. Run it from the project's root.
set -euo pipefail
settings=(--env gym/rgvf/Catch-v0 --steps 10 --learning-rate 2e-3 --rms-epsilon 1e-7 --depth 4 --repeat 8
  --log-every 10000)
.venv/bin/rgvf train "${settings[@]}" --frames 200000 --agent a2c --out runs/catch/a2c
for task in rgvf rgvf-no-actions rgvf-shallow rgvf-discounted-sum mhvp reward-prediction termination-prediction \
  pixel-control curl rgvf+pixel-control; do
  c=1
  if [ "$task" = mhvp ] || [ "$task" = reward-prediction ]; then c=0.03; fi # see catch.md
  .venv/bin/rgvf train "${settings[@]}" --frames 200000 --agent "$task" --out "runs/catch/$task"
  .venv/bin/rgvf train "${settings[@]}" --frames 600000 --agent "$task" --c $c --stop-gradient \
    --out "runs/catch/$task-stop-gradient"
done
