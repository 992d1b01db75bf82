"""What stands between the coordinates and a network's first layer: one embedding a file."""

from pinn.models.embeddings.corner import CornerEmbedding
from pinn.models.embeddings.embedding import EMBEDDINGS, AnyEmbeddings, Embedding, Piece
from pinn.models.embeddings.fourier import FourierEmbedding
from pinn.models.embeddings.inversion import InversionEmbedding
from pinn.models.embeddings.periodic import PeriodicEmbedding

__all__ = [
    "EMBEDDINGS", "AnyEmbeddings", "CornerEmbedding", "Embedding", "FourierEmbedding",
    "InversionEmbedding", "PeriodicEmbedding", "Piece",
]  # fmt: skip

EMBEDDINGS.add("periodic", PeriodicEmbedding)
EMBEDDINGS.add("fourier", FourierEmbedding)
EMBEDDINGS.add("inversion", InversionEmbedding)
EMBEDDINGS.add("corner", CornerEmbedding)
