"""Products of weights with rows: the code of W x, with a block of W x in registers at a time."""

from __future__ import annotations

from .shape import Shape


def product(shape: Shape) -> str:
    """Return `product(m, k, w, row, column, x, stride, z)`: z = W x.

    W has m rows and k columns that lie `row` and `column` numbers apart; the k rows of x lie
    `stride` apart, the m rows of z one after the other.
    """
    most, wide = shape.host.block
    heights = [h for h in (most, 2, 1) if h <= most]
    text = [_block(shape, height, wide) for height in heights]
    head = (
        "define internal void @product(i64 %m, i64 %k, ptr %w, i64 %row, i64 %column, ptr %x, "
        "i64 %stride, ptr %z) #0 {\nentry:\n  br label %try0\n"
    )
    body = []
    for number, height in enumerate(heights):
        last = number + 1 == len(heights)
        after = "done" if last else f"try{number + 1}"
        start = "0" if number == 0 else f"%left{number - 1}"
        before = "entry" if number == 0 else f"leave{number - 1}"
        n = number
        body.append(f"""try{n}:
  %start{n} = phi i64 [{start}, %{before}]
  br label %test{n}
test{n}:
  %i{n} = phi i64 [%start{n}, %try{n}], [%next{n}, %turn{n}]
  %next{n} = add i64 %i{n}, {height}
  %fits{n} = icmp sle i64 %next{n}, %m
  br i1 %fits{n}, label %block{n}, label %leave{n}
block{n}:
  %over{n} = mul i64 %i{n}, %row
  %wp{n} = getelementptr {shape.real}, ptr %w, i64 %over{n}
  %down{n} = mul i64 %i{n}, {shape.tile}
  %zp{n} = getelementptr {shape.real}, ptr %z, i64 %down{n}
  br label %part{n}
part{n}:
  %j{n} = phi i64 [0, %block{n}], [%jn{n}, %part{n}]
  %xq{n} = getelementptr {shape.real}, ptr %x, i64 %j{n}
  %zq{n} = getelementptr {shape.real}, ptr %zp{n}, i64 %j{n}
  call void @product_{height}(i64 %k, ptr %wp{n}, i64 %row, i64 %column, ptr %xq{n},
                              i64 %stride, ptr %zq{n})
  %jn{n} = add i64 %j{n}, {wide * shape.lanes}
  %more{n} = icmp slt i64 %jn{n}, {shape.tile}
  br i1 %more{n}, label %part{n}, label %turn{n}
turn{n}:
  br label %test{n}
leave{n}:
  %left{n} = phi i64 [%i{n}, %test{n}]
  br label %{after}""")
    body.append("done:\n  ret void\n}")
    return "\n".join(text) + "\n" + head + "\n".join(body) + "\n"


def _block(shape: Shape, height: int, wide: int) -> str:
    """Return the function of a block of `height` rows and `wide` registers."""
    v, real = shape.vector, shape.real
    blocks = [(i, j) for i in range(height) for j in range(wide)]
    out = [
        f"define internal void @product_{height}(i64 %k, ptr noalias %w, i64 %row, "
        f"i64 %column, ptr noalias %x, i64 %stride, ptr noalias %z) #0 {{",
        "entry:",
    ]
    for i in range(height):
        out += [
            f"  %at{i} = mul i64 %row, {i}",
            f"  %w{i} = getelementptr {real}, ptr %w, i64 %at{i}",
        ]
    out += ["  br label %loop", "loop:", "  %n = phi i64 [0, %entry], [%next, %loop]"]
    out += [
        f"  %a{i}.{j} = phi {v} [zeroinitializer, %entry], [%c{i}.{j}, %loop]"
        for i, j in blocks
    ]
    out += ["  %xo = mul i64 %n, %stride", "  %wo = mul i64 %n, %column"]
    out.append(f"  %x0 = getelementptr {real}, ptr %x, i64 %xo")
    for j in range(wide):
        out += [
            f"  %xp{j} = getelementptr {real}, ptr %x0, i64 {j * shape.lanes}",
            f"  %xv{j} = load {v}, ptr %xp{j}, align {shape.host.vector_bytes}",
        ]
    for i in range(height):
        out.append(f"  %wp{i} = getelementptr {real}, ptr %w{i}, i64 %wo")
        out += _splat(shape, f"%wv{i}", f"%wp{i}")
    out += [
        f"  %c{i}.{j} = call {v} {shape.fma}({v} %wv{i}, {v} %xv{j}, {v} %a{i}.{j})"
        for i, j in blocks
    ]
    out += [
        "  %next = add i64 %n, 1", "  %more = icmp slt i64 %next, %k",
        "  br i1 %more, label %loop, label %done, !llvm.loop !0", "done:",
    ]
    for i, j in blocks:
        out += [
            f"  %z{i}.{j} = getelementptr {real}, ptr %z, i64 {i * shape.tile + j * shape.lanes}",
            f"  store {v} %c{i}.{j}, ptr %z{i}.{j}, align {shape.host.vector_bytes}",
        ]
    return "\n".join([*out, "  ret void", "}", ""])


def _splat(shape: Shape, name: str, pointer: str) -> list[str]:
    """Return the lines that fill a register with the number at a pointer."""
    v, bare = shape.vector, name[1:]
    return [
        f"  %{bare}.s = load {shape.real}, ptr {pointer}, align {shape.size}",
        f"  %{bare}.i = insertelement {v} poison, {shape.real} %{bare}.s, i32 0",
        f"  {name} = shufflevector {v} %{bare}.i, {v} poison, "
        f"<{shape.lanes} x i32> zeroinitializer",
    ]
