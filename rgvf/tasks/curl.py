"""CURL: tell two crops of one observation from crops of others (Laskin et al. 2020)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key, Shaped

from rgvf.networks import Dense, FeedForward, Representation, has_memory, initial_weight
from rgvf.settings import check_types, not_negative, positive, require
from rgvf.spec import EnvironmentSpec
from rgvf.tasks.protocol import Metrics, View

MAX_OUTPUTS = 65_536


class Encoder(eqx.Module):
    """From a state to the vector that is compared: one hidden layer, as in the other tasks' heads."""

    hidden: Dense
    output: Dense
    layer_norm: bool = eqx.field(static=True)

    def __init__(self, key: Key[Array, ""], inputs: int, hidden: int, outputs: int, layer_norm: bool) -> None:
        hidden_key, output_key = jax.random.split(key)
        self.hidden = Dense(hidden_key, inputs, hidden)
        self.output = Dense(output_key, hidden, outputs)
        self.layer_norm = layer_norm

    def __call__(self, states: Float[Array, "n inputs"]) -> Float[Array, "n outputs"]:
        """The vectors to compare."""
        normalise = _layer_norm if self.layer_norm else lambda x: x
        return normalise(self.output(jax.nn.relu(normalise(self.hidden(states)))))


class CURLParams(eqx.Module):
    """The query's encoder, and the matrix W of the similarity."""

    encoder: Encoder
    similarity: Float[Array, "outputs outputs"]


class KeyEncoder(NamedTuple):
    """Moving averages of the representation and of the encoder."""

    representation: FeedForward
    encoder: Encoder


@dataclass(frozen=True)
class CURLTask:
    """Contrastive learning (InfoNCE): match two crops of one observation among those of the whole batch.

        L = −log [exp(s · qᵢᵀ W kᵢ) / Σ_j exp(s · qᵢᵀ W k_j)], averaged over observations i

    Each observation is cropped twice at random and padded back with zeros. The query qᵢ is encoded by the agent, the
    key kᵢ by moving averages of it, without a gradient.
    """

    settings: CURLSettings
    """With a margin that suits the images; s is `logit_scale`."""
    hidden: int

    def init(self, key: Key[Array, ""], representation: Representation) -> tuple[CURLParams, KeyEncoder]:
        """A new encoder; the state is a copy of it and of the representation."""
        representation = _feed_forward(representation)
        encoder_key, similarity_key = jax.random.split(key)
        outputs = self.settings.outputs
        encoder = Encoder(encoder_key, representation.size, self.hidden, outputs, self.settings.layer_norm)
        similarity = initial_weight(similarity_key, (outputs, outputs), outputs)
        # Copies: an agent's buffers are donated to the next one, and no buffer can be donated twice.
        averages = jax.tree.map(lambda x: jnp.array(x, copy=True), KeyEncoder(representation, encoder))
        return CURLParams(encoder, similarity), averages

    def loss(
        self, params: CURLParams, state: KeyEncoder, view: View, key: Key[Array, ""]
    ) -> tuple[Float[Array, ""], KeyEncoder, Metrics]:
        """The loss above; logs the share of queries whose own key is the most similar."""
        representation = _feed_forward(view.representation)
        observation = view.trajectory.observation[:-1]
        samples = observation.reshape(-1, *observation.shape[2:])
        query_key, key_key = jax.random.split(key)
        queries = params.encoder(representation(crop(query_key, samples, self.settings.margin)))
        keys = state.encoder(state.representation(crop(key_key, samples, self.settings.margin)))
        logits = self.settings.logit_scale * queries @ params.similarity @ jax.lax.stop_gradient(keys).T
        valid = view.trajectory.valid.reshape(-1)
        loss = contrastive_loss(logits, valid)
        correct = valid & (jnp.argmax(_mask_columns(logits, valid), -1) == jnp.arange(len(valid)))
        accuracy = jnp.sum(correct) / jnp.maximum(jnp.sum(valid), 1)
        averages = moving_average(state, KeyEncoder(representation, params.encoder), self.settings.step)
        return loss, averages, {"loss": loss, "accuracy": accuracy}


def _feed_forward(representation: Representation) -> FeedForward:
    """The representation, which must be a function of the observation."""
    if isinstance(representation, FeedForward):
        return representation
    why = "curl compares crops of single observations, so it needs a representation without memory"
    if has_memory(representation):
        raise ValueError(f"{why}; leave out curl, or choose a representation that has none, such as auto")
    raise ValueError(f"{why}: a subclass of rgvf.networks.FeedForward, not {type(representation).__name__}")


def crop(
    key: Key[Array, ""], images: Shaped[Array, "n height width channels"], margin: int
) -> Shaped[Array, "n height width channels"]:
    """Cut a window that is smaller by `margin` out of each image at random; pad it back, in the middle, with zeros."""
    n, height, width, _ = images.shape
    corners = jax.random.randint(key, (n, 2), 0, margin + 1)
    inside = margin // 2
    edges = (inside, margin - inside)

    def one(image: Shaped[Array, "height width channels"], corner: Int[Array, " 2"]) -> Shaped[Array, "h w channels"]:
        start = (corner[0], corner[1], 0)
        return jax.lax.dynamic_slice(image, start, (height - margin, width - margin, image.shape[-1]))

    return jnp.pad(jax.vmap(one)(images, corners), ((0, 0), edges, edges, (0, 0)))


def contrastive_loss(logits: Float[Array, "n n"], valid: Bool[Array, " n"]) -> Float[Array, ""]:
    """Cross-entropy with label i for row i, among valid columns; the mean over rows, where others count as 0."""
    own = jnp.diagonal(jax.nn.log_softmax(_mask_columns(logits, valid)))
    return -jnp.mean(jnp.where(valid, own, 0.0))


def _mask_columns(logits: Float[Array, "n n"], valid: Bool[Array, " n"]) -> Float[Array, "n n"]:
    return jnp.where(valid, logits, jnp.finfo(logits.dtype).min)


def moving_average(average: KeyEncoder, newest: KeyEncoder, step: float) -> KeyEncoder:
    """average + step · (newest − average), without a gradient."""
    return jax.tree.map(lambda a, b: a + step * (jax.lax.stop_gradient(b) - a), average, newest)


def _layer_norm(x: Float[Array, "n size"]) -> Float[Array, "n size"]:
    centred = x - x.mean(-1, keepdims=True)
    return centred / jnp.sqrt(jnp.mean(centred**2, -1, keepdims=True) + 1e-5)


@dataclass(frozen=True)
class CURLSettings:
    """CURL (Laskin et al. 2020): tell two crops of one observation from crops of others."""

    name: ClassVar[str] = "curl"

    margin: int = 0
    """Pixels by which crops are smaller than the image; 0: 4, or 2 for images below 36×36."""
    outputs: int = 128
    """Length of the vectors that stand for two crops when they are compared."""
    step: float = 0.001
    """Step size of the moving averages that encode the second crop."""
    layer_norm: bool = False
    """Normalise the encoder's layers, as the authors of CURL did."""
    logit_scale: float = 1.0
    """Multiplies the similarities of two crops; the authors of CURL used 0.1."""

    def __post_init__(self) -> None:
        check_types(self)
        require(self, "at least 0", not_negative, "margin")
        require(self, f"between 1 and {MAX_OUTPUTS:,}", lambda x: 1 <= x <= MAX_OUTPUTS, "outputs")
        require(self, "in [0, 1]", lambda x: 0 <= x <= 1, "step")
        require(self, "positive", positive, "logit_scale")

    def make(self, spec: EnvironmentSpec, seed: int, hidden: int) -> CURLTask:
        """The task for an environment with images."""
        del seed
        shortest = min(spec.image_shape("curl")[:2])
        margin = self.margin or (2 if spec.is_small_image else 4)
        if margin >= shortest:
            raise ValueError(f"curl's margin must be smaller than the image, {shortest} pixels, not {margin}")
        return CURLTask(replace(self, margin=margin), hidden)
