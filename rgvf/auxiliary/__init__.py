"""Auxiliary tasks: what an agent learns beside its main task, and what teaches the representation."""

from rgvf.auxiliary.gvf import GVFTask, Questions, questions
from rgvf.auxiliary.protocol import Metrics, Task, View

__all__ = ["GVFTask", "Metrics", "Questions", "Task", "View", "questions"]
