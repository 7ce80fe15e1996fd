"""Writes loans.csv: 400 made-up loan applications with every kind of column. Run it again and the file is the same."""

from pathlib import Path

import numpy as np
import pandas as pd


def make_loans(count: int = 400, seed: int = 7) -> pd.DataFrame:
    """Loan applications that never were, and whether they were granted."""
    random = np.random.default_rng(seed)
    age = random.integers(19, 76, count)
    school = random.choice(["none", "secondary", "bachelor", "master"], count, p=[0.1, 0.5, 0.3, 0.1])
    income = np.round(random.lognormal(7.6, 0.4, count) * (1 + 0.15 * (school == "master")), 2)
    months = random.choice([6, 12, 18, 24, 36, 48, 60], count)
    amount = np.round(random.lognormal(8.2, 0.7, count) / 50) * 50
    late = np.where(random.random(count) < 0.15, -9, random.poisson(0.8, count))
    since = pd.Timestamp("2026-01-01") - pd.to_timedelta(random.integers(30, 4000, count), unit="D")
    housing = random.choice(["own", "rent", "free"], count, p=[0.45, 0.45, 0.1])
    points = 0.9 * np.log(income) - 0.6 * np.log(amount / months) - 0.5 * np.maximum(late, 0)
    points = points + 0.6 * (housing == "own") + 0.01 * age
    granted = points + random.normal(0, 0.4, count) > np.median(points)
    return pd.DataFrame(
        {
            "age": age,
            "sex": random.choice(["female", "male"], count),
            "school": school,
            "housing": housing,
            "income": income,
            "amount": amount.astype(int),
            "months": months,
            "late_payments": late,
            "customer_since": since.strftime("%Y-%m-%d"),
            "granted": np.where(granted, "yes", "no"),
        }
    )


if __name__ == "__main__":
    make_loans().to_csv(Path(__file__).with_name("loans.csv"), index=False)
