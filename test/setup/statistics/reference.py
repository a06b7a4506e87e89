"""Reads cases as JSON from stdin and prints what scipy and statsmodels say of each, in the same order."""

import itertools
import json
import math
import sys
import warnings

import numpy as np
import statsmodels.api as sm
from scipy import special, stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

warnings.simplefilter("ignore")


def clustered(tasks):
    scores = np.array([score for task in tasks for score in task], dtype=float)
    groups = np.array([index for index, task in enumerate(tasks) for _ in task])
    fit = sm.OLS(scores, np.ones_like(scores)).fit(
        cov_type="cluster", cov_kwds={"groups": groups, "use_correction": True}
    )
    return float(fit.bse[0])


def miller(tasks):
    """Equation 4 of Miller 2024, term by term."""
    scores = [score for task in tasks for score in task]
    mean, n = np.mean(scores), len(scores)
    pairs = sum((a - mean) * (b - mean) for task in tasks for a, b in itertools.permutations(task, 2))
    return math.sqrt(max(0.0, stats.sem(scores) ** 2 + pairs / n**2))


def variance_parts(tasks):
    """The mean squares behind scipy's F statistic."""
    scores = np.array([score for task in tasks for score in task], dtype=float)
    k, n = len(tasks), len(scores)
    within = sum(((np.array(task) - np.mean(task)) ** 2).sum() for task in tasks) / (n - k)
    between = within * stats.f_oneway(*tasks).statistic
    n0 = (n - sum(len(task) ** 2 for task in tasks) / n) / (k - 1)
    parts = (between - within) / n0
    return [parts, within, max(0.0, parts) / (max(0.0, parts) + within)]


def resampled(means, level):
    """Every resample of the tasks, one by one."""
    outcomes = sorted(round(sum(drawn) / len(means), 12) for drawn in itertools.product(means, repeat=len(means)))
    rank = math.ceil(level * len(outcomes) - 1e-9)
    return [outcomes[rank - 1], outcomes[-rank]]


def answer(case):
    n, c, k = case["trials"], case["passes"], case["k"]
    a, b, x, p = case["a"], case["b"], case["x"], case["p"]
    tasks, differences = case["tasks"], case["differences"]
    flips = stats.permutation_test(
        (np.array(differences),), np.mean, permutation_type="samples", n_resamples=np.inf, vectorized=False
    )
    low, high = stats.t.interval(0.95, len(differences) - 1, np.mean(differences), stats.sem(differences))
    return {
        "wilson": list(proportion_confint(c, n, method="wilson")),
        "clopper_pearson": list(proportion_confint(c, n, method="beta")),
        "beta_cdf": special.betainc(a, b, x),
        "beta_quantile": special.betaincinv(a, b, p),
        "normal_cdf": special.ndtr(case["z"]),
        "normal_quantile": special.ndtri(p),
        "student_quantile": stats.t.ppf(0.5 + p / 2, n),
        "student_p": 2 * stats.t.sf(abs(case["z"]), n),
        "t_interval": [low, high],
        "paired_p": stats.ttest_1samp(differences, 0).pvalue,
        "sign_flip": flips.pvalue,
        "mcnemar": mcnemar([[0, case["first"]], [case["second"], 0]], exact=True).pvalue,
        "holm": list(multipletests(case["p_values"], method="holm")[1]),
        "pass_at_k": 1 - special.comb(n - c, k, exact=True) / special.comb(n, k, exact=True),
        "pass_hat_k": special.comb(c, k, exact=True) / special.comb(n, k, exact=True),
        "clustered": clustered(tasks),
        "miller": miller(tasks),
        "variance_parts": variance_parts(tasks),
        "resampled": resampled(case["means"], 0.025),
    }


json.dump([answer(case) for case in json.load(sys.stdin)], sys.stdout, default=float)
