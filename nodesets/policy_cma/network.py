"""The Cross-Modal Attention network of VLN-CE (Krantz et al., ECCV 2020, arXiv:2004.02857).

Knows tensors and the published parameter names; neither checkpoints nor ports.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from .resnet import ColourEncoder, DepthEncoder

HIDDEN = 512
KEYS = HIDDEN // 2
COLOUR_OUT, DEPTH_OUT, ACTION_OUT = 256, 128, 32
INSTRUCTION_LENGTH = 200


@dataclass(frozen=True)
class Architecture:
    """What differs between published checkpoints."""

    vocabulary: int = 2504
    embedding: int = 50
    instruction_hidden: int = 128
    bidirectional: bool = True
    actions: int = 4

    @property
    def instruction_out(self) -> int:
        return self.instruction_hidden * (2 if self.bidirectional else 1)


class InstructionEncoder(nn.Module):
    def __init__(self, shape: Architecture) -> None:
        super().__init__()
        self.encoder_rnn = nn.LSTM(
            shape.embedding, shape.instruction_hidden, bidirectional=shape.bidirectional
        )
        self.embedding_layer = nn.Embedding(shape.vocabulary, shape.embedding, padding_idx=0)
        self.channels = shape.instruction_out

    def forward(self, tokens: Tensor) -> Tensor:
        """Encode tokens (B, 200), 0 where there is none, as (B, channels, 200).

        Each row runs through the LSTM alone and at its own length: put together, as packed
        sequences are, the rows would touch each other's last bits.
        """
        encoded = tokens.new_zeros((len(tokens), INSTRUCTION_LENGTH, self.channels)).float()
        for row, ids in enumerate(tokens):
            length = int((ids != 0).sum())
            if length:
                words = self.embedding_layer(ids[:length])
                encoded[row, :length] = self.encoder_rnn(words[:, None])[0][:, 0]
        return encoded.transpose(1, 2)


class StateEncoder(nn.Module):
    """A GRU that takes one step; the state of a row whose episode begins is cleared."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        self.rnn = nn.GRU(inputs, HIDDEN)

    def forward(self, x: Tensor, state: Tensor, is_running: Tensor) -> Tensor:
        kept = torch.where(is_running[:, None], state, torch.zeros_like(state))
        return self.rnn(x[None], kept[None].contiguous())[1][0]


class CrossModalAttention(nn.Module):
    def __init__(self, shape: Architecture) -> None:
        super().__init__()
        self.instruction_encoder = InstructionEncoder(shape)
        self.depth_encoder = DepthEncoder()
        self.rgb_encoder = ColourEncoder()
        self.prev_action_embedding = nn.Embedding(shape.actions + 1, ACTION_OUT)
        colour, depth, text = ColourEncoder.channels, DepthEncoder.channels, shape.instruction_out
        self.rgb_linear = nn.Sequential(
            nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(colour, COLOUR_OUT), nn.ReLU()
        )
        self.depth_linear = nn.Sequential(nn.Flatten(), nn.Linear(depth * 16, DEPTH_OUT), nn.ReLU())
        self.state_encoder = StateEncoder(COLOUR_OUT + DEPTH_OUT + ACTION_OUT)
        self.rgb_kv = nn.Conv1d(colour, KEYS + COLOUR_OUT, 1)
        self.depth_kv = nn.Conv1d(depth, KEYS + DEPTH_OUT, 1)
        self.state_q = nn.Linear(HIDDEN, KEYS)
        self.text_k = nn.Conv1d(text, KEYS, 1)
        self.text_q = nn.Linear(text, KEYS)
        self.register_buffer("_scale", torch.tensor(1.0 / KEYS**0.5))
        self.second_state_compress = nn.Sequential(
            nn.Linear(HIDDEN + text + COLOUR_OUT + DEPTH_OUT + ACTION_OUT, HIDDEN), nn.ReLU()
        )
        self.second_state_encoder = StateEncoder(HIDDEN)
        # Its parameters stand in every checkpoint; only training reads its output.
        self.progress_monitor = nn.Linear(HIDDEN, 1)

    def attend(self, query: Tensor, keys: Tensor, values: Tensor, *, off: Tensor | None) -> Tensor:
        """Attend over positions: query (B, K), keys (B, K, P), values (B, V, P), off (B, P)."""
        logits = torch.einsum("bk,bkp->bp", query, keys)
        if off is not None:
            logits = logits - off.float() * 1e8
        return torch.einsum("bp,bvp->bv", functional.softmax(logits * self._scale, dim=1), values)

    def forward(self, view: View, states: Tensor) -> tuple[Tensor, Tensor]:
        """Take one step of B agents.

        `states` is (B, 2, 512); returns the features (B, 512) and the states that follow.
        """
        instruction = self.instruction_encoder(view.tokens)
        depth, rgb = self.depth_encoder(view.depth), self.rgb_encoder(view.rgb)
        seen = (view.prev_action + 1) * view.is_running.long()
        action = self.prev_action_embedding(seen)
        x = torch.cat([self.rgb_linear(rgb), self.depth_linear(depth), action], dim=1)
        first = self.state_encoder(x, states[:, 0], view.is_running)
        text = self.attend(
            self.state_q(first),
            self.text_k(instruction),
            instruction,
            off=(instruction == 0.0).all(dim=1),
        )
        query = self.text_q(text)
        rgb_k, rgb_v = torch.split(self.rgb_kv(rgb), [KEYS, COLOUR_OUT], dim=1)
        depth_k, depth_v = torch.split(self.depth_kv(depth), [KEYS, DEPTH_OUT], dim=1)
        rgb_seen = self.attend(query, rgb_k, rgb_v, off=None)
        depth_seen = self.attend(query, depth_k, depth_v, off=None)
        x = torch.cat([first, text, rgb_seen, depth_seen, action], dim=1)
        x = self.second_state_compress(x)
        second = self.second_state_encoder(x, states[:, 1], view.is_running)
        return second, torch.stack([first, second], dim=1)


@dataclass(frozen=True)
class View:
    """What B agents are given at one step.

    rgb (B, 224, 224, 3) from 0 to 255; depth (B, 256, 256) from 0 to 1; tokens (B, 200);
    prev_action (B,) int64; is_running (B,) bool, false at an episode's first step.
    """

    rgb: Tensor
    depth: Tensor
    tokens: Tensor
    prev_action: Tensor
    is_running: Tensor


class ActionDistribution(nn.Module):
    def __init__(self, actions: int) -> None:
        super().__init__()
        self.linear = nn.Linear(HIDDEN, actions)

    def forward(self, features: Tensor) -> Tensor:
        return self.linear(features)


class CMAPolicy(nn.Module):
    """The network and its action head, under the names that a checkpoint's `state_dict` has."""

    def __init__(self, shape: Architecture) -> None:
        super().__init__()
        self.net = CrossModalAttention(shape)
        self.action_distribution = ActionDistribution(shape.actions)

    def forward(self, view: View, states: Tensor) -> tuple[Tensor, Tensor]:
        """Return the logits (B, actions) and the states (B, 2, 512) that follow."""
        features, states = self.net(view, states)
        return self.action_distribution(features), states
