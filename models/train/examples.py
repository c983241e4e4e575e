"""Networks and positions for the tests."""

import chess
import numpy as np
import torch

from encoding import History, position_planes
from model import Network, Shape


def inputs(board: chess.Board, mirror: bool = False) -> np.ndarray:
    return position_planes(board, History(board), mirror)


def some_network(shape: Shape) -> Network:
    """A network none of whose parts is without effect."""
    torch.manual_seed(0)
    network = Network(shape).eval()
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.weight, 0.5, 1.5)
            torch.nn.init.normal_(module.bias, std=0.3)
            torch.nn.init.normal_(module.running_mean, std=0.3)
            torch.nn.init.uniform_(module.running_var, 0.5, 1.5)
        if isinstance(module, torch.nn.Linear):
            torch.nn.init.normal_(module.bias, std=0.1)
    return network


def some_planes() -> torch.Tensor:
    boards = [
        "8/2k2P2/3p4/p2P1p2/P2P1P2/8/8/4K3 w - - 73 50", chess.STARTING_FEN, "4k3/8/8/8/8/8/8/R3K2R b KQ - 9 9",
    ]
    return torch.from_numpy(np.stack([inputs(chess.Board(fen)) for fen in boards]))
