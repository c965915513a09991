"""Compares what mlx.linalg computes with numpy: `python linear_algebra.py FOLDER`, where MLX must come from."""

import sys

import mlx.core as mx
import numpy as np

(folder,) = sys.argv[1:]
assert mx.__file__.startswith(folder), mx.__file__
mx.set_default_device(mx.cpu)
random = np.random.default_rng(4)


def check(what: str, found: object, expected: object, tolerance: float = 2e-4) -> None:
    found, expected = np.array(found), np.array(expected)
    scale = max(1.0, float(np.abs(expected).max()))
    worst = float(np.abs(found - expected).max()) / scale
    assert found.shape == expected.shape, what
    assert worst < tolerance, f"{what} differs by {worst}"


def sorted_values(values: object) -> np.ndarray:
    return np.sort_complex(np.round(np.array(values).astype(np.complex128), 4))


for size in (1, 2, 7, 64, 200):
    square = (random.standard_normal((size, size)) + 2 * np.sqrt(size) * np.eye(size)).astype(np.float32)
    positive = (square @ square.T / size + np.eye(size)).astype(np.float32)
    right = random.standard_normal((size, 3)).astype(np.float32)
    a, s, b = mx.array(square), mx.array(positive), mx.array(right)
    check("inv", mx.linalg.inv(a), np.linalg.inv(square))
    check("solve", mx.linalg.solve(a, b), np.linalg.solve(square, right))
    lower = mx.linalg.cholesky(s)
    check("cholesky", lower, np.linalg.cholesky(positive))
    check("cholesky_inv", mx.linalg.cholesky_inv(lower), np.linalg.inv(positive), 1e-3)
    triangle = np.linalg.cholesky(positive)
    check("tri_inv", mx.linalg.tri_inv(lower), np.linalg.inv(triangle), 1e-3)
    check("solve_triangular", mx.linalg.solve_triangular(lower, b), np.linalg.solve(triangle, right), 1e-3)
    values, vectors = mx.linalg.eigh(s)
    check("eigh", values, np.linalg.eigvalsh(positive))
    check("eigh's vectors", vectors * values @ vectors.T, positive)
    check("eigvals", sorted_values(mx.linalg.eigvals(s)), sorted_values(np.linalg.eigvals(positive)), 1e-3)
    values, vectors = mx.linalg.eig(a)
    check("eig", np.array(a) @ np.array(vectors), np.array(vectors) * np.array(values), 1e-3)
    rows, one, other = mx.linalg.lu(a)
    check("lu", mx.take_along_axis(one @ other, mx.argsort(rows)[:, None], axis=0), square)
for shape in ((3, 3), (40, 7), (7, 40), (128, 128)):
    matrix = random.standard_normal(shape).astype(np.float32)
    a = mx.array(matrix)
    q, r = mx.linalg.qr(a)
    check("qr", q @ r, matrix)
    check("qr's columns", q.T @ q, np.eye(q.shape[1]))
    u, s, v = mx.linalg.svd(a)
    check("svd", s, np.linalg.svd(matrix, compute_uv=False))
    check("svd's vectors", (u[:, : s.size] * s) @ v[: s.size], matrix)
    check("pinv", mx.linalg.pinv(a), np.linalg.pinv(matrix), 1e-3)
    turned = matrix @ matrix.T + 1j * (matrix @ matrix[::-1].T - (matrix @ matrix[::-1].T).T)
    z = mx.array(turned.astype(np.complex64))
    check("complex eigh", mx.linalg.eigvalsh(z), np.linalg.eigvalsh(turned), 1e-3)
    check("complex product", z @ z, turned @ turned, 1e-3)
    check("product", a @ a.T, matrix @ matrix.T)
    check("products", mx.stack([a, a]) @ a.T, np.stack([matrix, matrix]) @ matrix.T)
