"""The two ResNet-50s that see for the agent: one for colour, one for depth.

Knows their published architectures and parameter names, not what is done with their features.
"""

from __future__ import annotations

from typing import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

BLOCKS_PER_STAGE = (3, 4, 6, 3)
EXPANSION = 4
SPATIAL_CELLS = 16
SPATIAL_CHANNELS = 64


def make_convolution(
    channels_in: int, channels_out: int, size: int, *, stride: int = 1
) -> nn.Conv2d:
    return nn.Conv2d(channels_in, channels_out, size, stride, padding=size // 2, bias=False)


class ColourBlock(nn.Module):
    """A bottleneck with batch normalisation, its stride in the 3x3 layer (ResNet v1.5).

    The names are torchvision's, which a checkpoint uses.
    """

    def __init__(self, channels_in: int, planes: int, stride: int) -> None:
        super().__init__()
        channels_out = planes * EXPANSION
        self.conv1 = make_convolution(channels_in, planes, 1)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = make_convolution(planes, planes, 3, stride=stride)
        self.bn2 = nn.BatchNorm2d(planes)
        self.conv3 = make_convolution(planes, channels_out, 1)
        self.bn3 = nn.BatchNorm2d(channels_out)
        self.downsample = None
        if stride != 1 or channels_in != channels_out:
            shortcut = make_convolution(channels_in, channels_out, 1, stride=stride)
            self.downsample = nn.Sequential(shortcut, nn.BatchNorm2d(channels_out))

    def forward(self, x: Tensor) -> Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        y = functional.relu(self.bn1(self.conv1(x)))
        y = functional.relu(self.bn2(self.conv2(y)))
        return functional.relu(self.bn3(self.conv3(y)) + shortcut)


class DepthBlock(nn.Module):
    """A bottleneck with group normalisation; the names are those of the DD-PPO agents."""

    def __init__(self, channels_in: int, planes: int, stride: int, *, groups: int) -> None:
        super().__init__()
        channels_out = planes * EXPANSION
        self.convs = nn.Sequential(
            make_convolution(channels_in, planes, 1),
            nn.GroupNorm(groups, planes),
            nn.ReLU(),
            make_convolution(planes, planes, 3, stride=stride),
            nn.GroupNorm(groups, planes),
            nn.ReLU(),
            make_convolution(planes, channels_out, 1),
            nn.GroupNorm(groups, channels_out),
        )
        self.downsample = None
        if stride != 1 or channels_in != channels_out:
            shortcut = make_convolution(channels_in, channels_out, 1, stride=stride)
            self.downsample = nn.Sequential(shortcut, nn.GroupNorm(groups, channels_out))

    def forward(self, x: Tensor) -> Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        return functional.relu(self.convs(x) + shortcut)


def make_colour_stages(planes: int) -> list[nn.Sequential]:
    stages, channels = [], planes
    for stage, count in enumerate(BLOCKS_PER_STAGE):
        width = planes * 2**stage
        blocks = [ColourBlock(channels, width, 1 if stage == 0 else 2)]
        channels = width * EXPANSION
        blocks += [ColourBlock(channels, width, 1) for _ in range(count - 1)]
        stages.append(nn.Sequential(*blocks))
    return stages


def make_depth_stages(planes: int, groups: int) -> list[nn.Sequential]:
    stages, channels = [], planes
    for stage, count in enumerate(BLOCKS_PER_STAGE):
        width = planes * 2**stage
        blocks = [DepthBlock(channels, width, 1 if stage == 0 else 2, groups=groups)]
        channels = width * EXPANSION
        blocks += [DepthBlock(channels, width, 1, groups=groups) for _ in range(count - 1)]
        stages.append(nn.Sequential(*blocks))
    return stages


class DepthBackbone(nn.Module):
    def __init__(self, planes: int, groups: int) -> None:
        super().__init__()
        self.conv1 = nn.Sequential(
            nn.Conv2d(1, planes, 7, 2, padding=3, bias=False),
            nn.GroupNorm(groups, planes),
            nn.ReLU(),
        )
        self.maxpool = nn.MaxPool2d(3, 2, padding=1)
        self.layer1, self.layer2, self.layer3, self.layer4 = make_depth_stages(planes, groups)

    def forward(self, x: Tensor) -> Tensor:
        x = self.maxpool(self.conv1(x))
        return self.layer4(self.layer3(self.layer2(self.layer1(x))))


class DepthFeatures(nn.Module):
    """DD-PPO's visual encoder: halve the picture, a ResNet-50 of 32 planes, compress to 128x4x4."""

    def __init__(self, planes: int = 32, channels_out: int = 128) -> None:
        super().__init__()
        self.backbone = DepthBackbone(planes, planes // 2)
        self.compression = nn.Sequential(
            make_convolution(planes * 8 * EXPANSION, channels_out, 3),
            nn.GroupNorm(1, channels_out),
            nn.ReLU(),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.compression(self.backbone(functional.avg_pool2d(x, 2)))


class SpatialEncoder(nn.Module):
    """What both encoders share: a learned vector for each cell of the 4x4 grid is appended."""

    def __init__(self) -> None:
        super().__init__()
        self.spatial_embeddings = nn.Embedding(SPATIAL_CELLS, SPATIAL_CHANNELS)

    def append_cells(self, features: Tensor) -> Tensor:
        """Turn features (B, C, 4, 4) into (B, C + 64, 16).

        The published code views the table (16, 64) as (64, 4, 4) without transposing it, so a
        cell's vector is not a row of the table; a checkpoint depends on that.
        """
        batch = features.shape[0]
        cells = self.spatial_embeddings.weight.view(1, SPATIAL_CHANNELS, SPATIAL_CELLS)
        flat = features.flatten(2)
        return torch.cat([flat, cells.expand(batch, SPATIAL_CHANNELS, SPATIAL_CELLS)], dim=1)


class ColourEncoder(SpatialEncoder):
    """ImageNet's ResNet-50 without its head, pooled to 4x4; input is divided by 255, no more."""

    channels = 64 * 8 * EXPANSION + SPATIAL_CHANNELS

    def __init__(self) -> None:
        super().__init__()
        stem: Sequence[nn.Module] = (
            nn.Conv2d(3, 64, 7, 2, padding=3, bias=False),
            nn.BatchNorm2d(64),
            nn.ReLU(),
            nn.MaxPool2d(3, 2, padding=1),
        )
        self.cnn = nn.Sequential(*stem, *make_colour_stages(64))

    def forward(self, rgb: Tensor) -> Tensor:
        """Encode pictures (B, H, W, 3), 0 to 255, as (B, 2112, 16)."""
        features = self.cnn(rgb.permute(0, 3, 1, 2).float() / 255.0)
        return self.append_cells(functional.adaptive_avg_pool2d(features, (4, 4)))


class DepthEncoder(SpatialEncoder):
    channels = 128 + SPATIAL_CHANNELS

    def __init__(self) -> None:
        super().__init__()
        self.visual_encoder = DepthFeatures()

    def forward(self, depth: Tensor) -> Tensor:
        """Encode depth (B, 256, 256), 0 to 1, as (B, 192, 16)."""
        return self.append_cells(self.visual_encoder(depth[:, None]))
