"""Auxiliary tasks: what an agent learns beside its main task, and what teaches the representation."""

from rgvf.auxiliary.curl import CURLTask
from rgvf.auxiliary.gvf import GVFTask, Questions, pad_questions, questions
from rgvf.auxiliary.pixel_control import PixelControlTask
from rgvf.auxiliary.protocol import Metrics, Task, View

__all__ = [
    "CURLTask",
    "GVFTask",
    "Metrics",
    "PixelControlTask",
    "Questions",
    "Task",
    "View",
    "pad_questions",
    "questions",
]
