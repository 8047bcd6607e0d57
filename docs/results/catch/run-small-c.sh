#!/usr/bin/env bash
# The two stop-gradient agents that c = 1 does not teach enough, with a smaller mixing coefficient: five minutes.
set -euo pipefail
for task in mhvp termination-prediction; do
  .venv/bin/rgvf train --env gym/rgvf/Catch-v0 --seeds 2 --frames 600000 --steps 10 --learning-rate 2e-3 \
    --rms-epsilon 1e-7 --depth 4 --repeat 8 --log-every 10000 --agent "$task" --stop-gradient --c 0.03 \
    --out "runs/catch/$task-c-0.03-stop-gradient"
done
