"""Training loops."""

from rgvf.training.device import DeviceLoop, Policy, Training, uniform_policy

__all__ = ["DeviceLoop", "Policy", "Training", "uniform_policy"]
