"""CUDA's threads on the host: what kernels of CUDA C are compiled with to run as host code.

Each thread of a block is a fiber of its own, which runs until it meets a barrier; only when all
have met the same one do they go on.  Blocks run one after the other.  Shared memory is full of NaN
when a block begins.  In which order threads and blocks take turns can be chosen: a kernel whose
result depends on it lacks a barrier, or blocks that add into one place.
"""

PRELUDE = """#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <ucontext.h>
#include <vector>
using namespace std;

namespace emulation {
struct Place { unsigned x, y, z; };
struct Fiber { ucontext_t state; vector<char> stack; int barrier; Place thread; };
static ucontext_t scheduler;
static Fiber *running;
static void (*body)();
static const int STACK = 1 << 16, DONE = -1;

static void entered() { body(); running->barrier = DONE; swapcontext(&running->state, &scheduler); }

__attribute__((noinline)) static void barrier(int line) {
  running->barrier = line;
  swapcontext(&running->state, &scheduler);
}
}

static emulation::Place threadIdx, blockIdx, blockDim, gridDim;

// 0; 1 where some threads of a block have met another barrier than others, or none
static int run_block(vector<emulation::Fiber> &fibers, const vector<int> &order) {
  using namespace emulation;
  for (auto &fiber : fibers) {
    getcontext(&fiber.state);
    fiber.stack.resize(STACK);
    fiber.state.uc_stack.ss_sp = fiber.stack.data();
    fiber.state.uc_stack.ss_size = STACK;
    fiber.state.uc_link = &scheduler;
    makecontext(&fiber.state, entered, 0);
  }
  for (;;) {
    for (int k : order) {
      running = &fibers[k];
      threadIdx = running->thread;
      swapcontext(&scheduler, &running->state);
    }
    for (auto &fiber : fibers) if (fiber.barrier != fibers[0].barrier) return 1;
    if (fibers[0].barrier == DONE) return 0;
  }
}

#define __global__
#define __device__
#define __shared__
#define __align__(n) __attribute__((aligned(n)))
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __syncthreads() emulation::barrier(__LINE__)
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(16) double2 { double x, y; };
template <class T> static T __ldg(const T *place) { return *place; }
#define __noinline__ __attribute__((noinline))
#line 1
"""
"""What stands before a kernel's text."""

LAUNCH = """
#undef __noinline__
static void **arguments;
static void call_NAME() { NAME(ARGUMENTS); }

// size: grid x, y and threads of a block; turns: those of blocks, then of threads
extern "C" int launch_NAME(void **given, const int *size, const int *turns) {
  arguments = given;
  emulation::body = call_NAME;
  gridDim = {unsigned(size[0]), unsigned(size[1]), 1};
  blockDim = {unsigned(size[2]), 1, 1};
  vector<emulation::Fiber> fibers(size[2]);
  for (int k = 0; k < size[2]; ++k) fibers[k].thread = {unsigned(k), 0, 0};
  const int blocks = size[0] * size[1];
  const vector<int> order(turns + blocks, turns + blocks + size[2]);
  for (int k = 0; k < blocks; ++k) {
    blockIdx = {unsigned(turns[k] % size[0]), unsigned(turns[k] / size[0]), 0};
    FRESH
    if (run_block(fibers, order)) return 1;
  }
  return 0;
}
"""
"""What follows it, for each kernel: NAME, its ARGUMENTS taken from `arguments`, FRESH memory."""
