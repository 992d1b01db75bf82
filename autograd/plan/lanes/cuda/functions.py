"""The functions that all kernels share, in CUDA C: what is done with the rows of a tile.

Every thread of a block calls them with the same arguments and does its part of the work.  None of
them waits for the others: the kernel does, where one call reads what another has written.
"""

from __future__ import annotations

from .form import Form

HEIGHTS = (8, 4, 2, 1)
"""Rows of a block of numbers that one thread makes in a product; a divisor of `PADDED`."""

PADDED = 8
"""Columns of packed weights are filled up with zeros to a multiple of it."""

SQUARES = (4, 2, 1)
"""Sides of a square of sums that one thread makes."""


def functions(form: Form) -> str:
    """Return the text of all functions, and of what they stand on.

    Where values lie in memory of each block, each function takes it as its last argument: `ARENA`
    and `, IN` are then that argument, and nothing in shared memory.
    """
    of_block = "extern __shared__ __align__(16) R arena[];" if form.shared else ""
    names = {
        "REAL": form.real,
        "PACKED_TYPE": {"float": "float4", "double": "double2"}[form.real],
        "UNPACK": " ".join(
            f"to[PACK * n + {k}] = one.{name};" for k, name in enumerate("xyzw"[: form.pack])
        ),
        "REPACK": " ".join(
            f"one.{name} = from[PACK * n + {k}];" for k, name in enumerate("xyzw"[: form.pack])
        ),
        "TILE_NUMBER": str(form.tile),
        "ROW_NUMBER": str(form.row),
        "LARGE_BLOCK": str(128 // form.dtype.itemsize),  # in a pragma macros are not replaced
        "AHEAD": str(64 // form.dtype.itemsize),
        "LARGE_SQUARE": str(8 // form.dtype.itemsize),
        "PACKS_OF_ROW": str(form.tile // form.pack),
        "THREADS_NUMBER": str(form.threads),
        "PACK_NUMBER": str(form.pack),
        "OF_BLOCK": of_block,
        "INTO_DEFINED": "" if form.shared else ", R *arena",
        "GIVEN_DEFINED": "" if form.shared else ", arena",
    }
    text = _TEXT
    for name, value in names.items():
        text = text.replace(name, value)
    return text


def product_block(form: Form, m: int, lists: int) -> tuple[int, int]:
    """Return the rows and points that a thread takes at a time in a product of m rows.

    Chosen is the block with which the block of threads is done first, where fetching costs four
    multiply-adds: a multiprocessor issues so many of these in the time of one fetch.
    """
    blocks = [(h, w) for h in HEIGHTS for w in (2 * form.pack, form.pack)]

    def cost(block: tuple[int, int]) -> int:
        height, width = block
        units = -(-m // height) * lists * (form.tile // width)
        fetches = max(1, height // form.pack) + width // form.pack
        return -(-units // form.threads) * (height * width + 4 * fetches)

    return min(blocks, key=cost)


def square_of(form: Form, m: int, n: int) -> int:
    """Return the side of the squares of (m, n) sums that a thread takes at a time; see above."""

    def cost(side: int) -> int:
        units = -(-m // side) * -(-n // side)
        return -(-units // form.threads) * (side * side * form.pack + 8 * side)

    return min(SQUARES, key=cost)


_TEXT = """typedef REAL R;
typedef PACKED_TYPE Packed;
#define TILE TILE_NUMBER
#define ROW ROW_NUMBER
#define THREADS THREADS_NUMBER
#define PACK PACK_NUMBER
#define FUNCTION __device__ __noinline__ void
#define ARENA INTO_DEFINED
#define IN GIVEN_DEFINED
OF_BLOCK

template <int N> __device__ __forceinline__ void fetch(R (&to)[N], const R *from) {
  #pragma unroll
  for (int n = 0; n < N / PACK; ++n) {
    const Packed one = reinterpret_cast<const Packed *>(from)[n];
    UNPACK
  }
}

template <int N> __device__ __forceinline__ void store(R *to, const R (&from)[N]) {
  #pragma unroll
  for (int n = 0; n < N / PACK; ++n) {
    Packed one;
    REPACK
    reinterpret_cast<Packed *>(to)[n] = one;
  }
}

template <int N> __device__ __forceinline__ void fetch_weights(R (&to)[N], const R *from) {
  if (N < PACK) {
    #pragma unroll
    for (int n = 0; n < N; ++n) to[n] = __ldg(from + n);
  }
  #pragma unroll
  for (int n = 0; n < N / PACK; ++n) {
    const Packed one = __ldg(reinterpret_cast<const Packed *>(from) + n);
    UNPACK
  }
}

// z = W x for each list of rows x: packed weights, k columns of `padded` numbers
template <int H, int W> FUNCTION product(int m, int k, int padded, const R *weights, int lists,
                                         const int *x, const int *z ARENA) {
  const int across = TILE / W, columns = lists * across;
  const int units = (m + H - 1) / H * columns;
  for (int unit = threadIdx.x; unit < units; unit += THREADS) {
    const int i = unit / columns * H, column = unit % columns;
    const int list = column / across, t = column % across * W;
    const R *from = arena + x[list] + t;
    const R *w = weights + i;
    R sum[H][W];
    #pragma unroll
    for (int h = 0; h < H; ++h) {
      #pragma unroll
      for (int s = 0; s < W; ++s) sum[h][s] = R(0);
    }
    #pragma unroll (H * W > LARGE_BLOCK ? 2 : 8)
    for (int j = 0; j < k; ++j) {
      R a[H], b[W];
      fetch_weights(a, w + j * padded);
      fetch(b, from + j * ROW);
      #pragma unroll
      for (int h = 0; h < H; ++h) {
        #pragma unroll
        for (int s = 0; s < W; ++s) sum[h][s] += a[h] * b[s];
      }
    }
    R *to = arena + z[list] + i * ROW + t;
    #pragma unroll
    for (int h = 0; h < H; ++h) {
      if (i + h < m) store(to + h * ROW, sum[h]);
    }
  }
}

// total (m, n) += the sum over `lists` and points of a b^T; `=` for the first tile
template <int S> FUNCTION contract(int m, int n, int lists, const int *a, const int *b, R *total,
                                   bool first ARENA) {
  const int down = (m + S - 1) / S, across = (n + S - 1) / S;
  for (int unit = threadIdx.x; unit < down * across; unit += THREADS) {
    const int i = unit / across, j = unit % across;
    const bool ahead = S * S <= AHEAD;  // what was summed before is fetched while registers last
    R sum[S][S], old[S][S];
    #pragma unroll
    for (int r = 0; r < S; ++r) {
      #pragma unroll
      for (int s = 0; s < S; ++s) {
        const int row = i + r * down, column = j + s * across;
        sum[r][s] = R(0);
        old[r][s] = R(0);
        if (ahead && !first && row < m && column < n) old[r][s] = total[row * n + column];
      }
    }
    for (int list = 0; list < lists; ++list) {
      const R *x = arena + a[list] + i * ROW, *y = arena + b[list] + j * ROW;
      #pragma unroll (S > 2 ? LARGE_SQUARE : PACKS_OF_ROW)
      for (int t = 0; t < TILE; t += PACK) {
        R u[S][PACK], v[S][PACK];
        #pragma unroll
        for (int s = 0; s < S; ++s) {
          fetch(u[s], x + (i + s * down < m ? s * down * ROW : 0) + t);
          fetch(v[s], y + (j + s * across < n ? s * across * ROW : 0) + t);
        }
        #pragma unroll
        for (int p = 0; p < PACK; ++p) {
          #pragma unroll
          for (int r = 0; r < S; ++r) {
            #pragma unroll
            for (int s = 0; s < S; ++s) sum[r][s] += u[r][p] * v[s][p];
          }
        }
      }
    }
    #pragma unroll
    for (int r = 0; r < S; ++r) {
      #pragma unroll
      for (int s = 0; s < S; ++s) {
        const int row = i + r * down, column = j + s * across;
        if (row < m && column < n) {
          if (!ahead && !first) old[r][s] = total[row * n + column];
          total[row * n + column] = old[r][s] + sum[r][s];
        }
      }
    }
  }
}

// total (n) += the sums over the points of (n, o) rows; `=` for the first tile
FUNCTION sum_rows(int n, int o, const int *rows, R *total, bool first ARENA) {
  for (int e = threadIdx.x; e < n; e += THREADS) {
    R sum[PACK];
    #pragma unroll
    for (int p = 0; p < PACK; ++p) sum[p] = R(0);
    for (int k = 0; k < o; ++k) {
      const R *from = arena + rows[e * o + k];
      #pragma unroll
      for (int t = 0; t < TILE; t += PACK) {
        R u[PACK];
        fetch(u, from + t);
        #pragma unroll
        for (int p = 0; p < PACK; ++p) sum[p] += u[p];
      }
    }
    R all = sum[0];
    #pragma unroll
    for (int p = 1; p < PACK; ++p) all += sum[p];
    total[e] = first ? all : total[e] + all;
  }
}

// n rows z, each the sum of o rows
FUNCTION gather(int n, int o, const int *rows, int z ARENA) {
  for (int e = threadIdx.x; e < n * TILE; e += THREADS) {
    const int r = e / TILE, t = e % TILE;
    R sum = R(0);
    for (int k = 0; k < o; ++k) sum += arena[rows[r * o + k] + t];
    arena[z + r * ROW + t] = sum;
  }
}

// (m, n) rows z, the sums over o of a times b
FUNCTION outer(int m, int n, int o, const int *a, const int *b, int z ARENA) {
  for (int e = threadIdx.x; e < m * n * TILE; e += THREADS) {
    const int r = e / TILE, t = e % TILE, i = r / n, j = r % n;
    R sum = R(0);
    for (int k = 0; k < o; ++k) sum += arena[a[k] + i * ROW + t] * arena[b[k] + j * ROW + t];
    arena[z + r * ROW + t] = sum;
  }
}

// n rows z, copies
FUNCTION copy(int n, const int *rows, int z ARENA) {
  for (int e = threadIdx.x; e < n * TILE; e += THREADS) {
    arena[z + e / TILE * ROW + e % TILE] = arena[rows[e / TILE] + e % TILE];
  }
}

// zeros for the points that are missing
FUNCTION blank(int n, const int *rows, int valid ARENA) {
  for (int e = threadIdx.x; e < n * TILE; e += THREADS) {
    if (e % TILE >= valid) arena[rows[e / TILE] + e % TILE] = R(0);
  }
}

// a column of points as a row; the first point stands in for those that are missing
FUNCTION take(const R *from, int width, int z, int valid ARENA) {
  for (int t = threadIdx.x; t < TILE; t += THREADS) {
    arena[z + t] = from[(long long)(t < valid ? t : 0) * width];
  }
}

// n rows as a matrix (points, n)
FUNCTION give(int n, const int *rows, R *to, int valid ARENA) {
  for (int e = threadIdx.x; e < n * valid; e += THREADS) {
    to[e] = arena[rows[e % n] + e / n];
  }
}
"""
