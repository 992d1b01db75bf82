HELD = frozenset({"add","sub","mul","div","neg","square","tanh","reciprocal","sqrt"})
def _v(d,l): return f"<{l} x {'double' if d=='float64' else 'float'}>"
def name(op,d,l): return f"{op}_{d}_{l}"
def declarations(d,l):
    v=_v(d,l); s=f"v{l}f{64 if d=='float64' else 32}"
    return {f"declare {v} @llvm.fma.{s}({v}, {v}, {v})", f"declare {v} @llvm.sqrt.{s}({v})"}
def function_text(op,d,l):
    v=_v(d,l); r='double' if d=='float64' else 'float'; s=f"v{l}f{64 if d=='float64' else 32}"
    def c(x):
        import numpy as np
        x=np.float64(np.float32(x) if r=='float' else x)
        return "<"+", ".join([f"{r} 0x{x.view(np.uint64):016X}"]*l)+">"
    two=op in("add","sub","mul","div")
    head=f"define internal {v} @{name(op,d,l)}({v} %x"+(f", {v} %y" if two else "")+") alwaysinline nounwind {\n"
    b={"add":f"%r = fadd {v} %x, %y","sub":f"%r = fsub {v} %x, %y","mul":f"%r = fmul {v} %x, %y","div":f"%r = fdiv {v} %x, %y",
       "neg":f"%r = fneg {v} %x","square":f"%r = fmul {v} %x, %x","reciprocal":f"%r = fdiv {v} {c(1)}, %x","sqrt":f"%r = call {v} @llvm.sqrt.{s}({v} %x)"}
    if op!="tanh": return head+"  "+b[op]+f"\n  ret {v} %r\n}}\n"
    # continued fraction as rational P/Q in x^2
    import numpy as np
    from numpy.polynomial import polynomial as P
    p,q=np.array([1.0]),np.array([0.,0]) 
    num,den=np.array([2*12+1.0]),np.array([1.0])
    for k in range(11,-1,-1):
        # (2k+1) + z*den/num
        num,den=P.polyadd((2*k+1.0)*num,P.polymulx(den)),num
    # tanh = x*den/num
    s0=num[0]; num=num/s0; den=den/s0
    out=[f"%z = fmul {v} %x, %x"]
    def horner(co,nm):
        last=c(co[-1])
        for i,a in enumerate(co[-2::-1]):
            out.append(f"%{nm}{i} = call {v} @llvm.fma.{s}({v} {last}, {v} %z, {v} {c(a)})"); last=f"%{nm}{i}"
        return last
    n=horner(den,"n"); dd=horner(num,"d")
    out+=[f"%m = fmul {v} {n}, %x", f"%r = fdiv {v} %m, {dd}"]
    return head+"  "+"\n  ".join(out)+f"\n  ret {v} %r\n}}\n"
