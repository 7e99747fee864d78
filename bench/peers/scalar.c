// GRPO on a softmax bandit of Bernoulli arms in scalar C: a peer of `make bench`.
//
// One replica after another on one core. A group is drawn as sufficient
// statistics: how many samples each arm got, and how many were rewarded, by
// binomials; small groups sample by sample where that is faster.
//
//   gcc -O3 -march=native -o scalar scalar.c -lm
//
// The process is that of bench/peers/README.md.
#include "peer.h"

// Random numbers: xoshiro256++ (Blackman and Vigna), seeded by splitmix64.

static uint64_t s[4];

static inline uint64_t rotl(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

static inline uint64_t next(void) {
	uint64_t word = rotl(s[0] + s[3], 23) + s[0], t = s[1] << 17;
	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return word;
}

static inline double uniform(void) { return (next() >> 11) * 0x1p-53; }

static void seed(uint64_t x) {
	for (int i = 0; i < 4; i++) {
		x += 0x9e3779b97f4a7c15;
		uint64_t y = x;
		y = (y ^ (y >> 30)) * 0xbf58476d1ce4e5b9;
		y = (y ^ (y >> 27)) * 0x94d049bb133111eb;
		s[i] = y ^ (y >> 31);
	}
}

// Binomials: the fastest of three simple methods.

enum { FEW = 16 }; // so many samples at most are drawn one by one

static inline int64_t threshold(double p) { return p * 0x1p53; } // of next() >> 11

static inline int one_by_one(int n, double p) {
	int k = 0;
	int64_t t = threshold(p);
	for (int i = 0; i < n; i++)
		k += (int64_t)(next() >> 11) < t;
	return k;
}

static int inversion(int n, double p) {
	double q = 1 - p, odds = p / q, mass = 1, u = uniform();
	for (int e = n; e; e >>= 1, q *= q) // q^n
		if (e & 1)
			mass *= q;
	int k = 0;
	while (u > mass && k < n) {
		u -= mass;
		k++;
		mass *= odds * (n - k + 1) / k;
	}
	return k;
}

// What Stirling's formula for log k! lacks.
static inline double stirling_rest(double k) {
	static const double few[10] = {
		0.08106146679532726, 0.04134069595540929, 0.02767792568499834, 0.02079067210376509,
		0.01664469118982119, 0.01387612882307075, 0.01189670994589177, 0.01041126526197209,
		0.009255462182712733, 0.008330563433362871};
	if (k < 10)
		return few[(int)k];
	double r = 1 / ((k + 1) * (k + 1));
	return (1. / 12 - (1. / 360 - 1. / 1260 * r) * r) / (k + 1);
}

// BTRS (Hörmann 1993), transformed rejection with squeeze; np >= 10.
static int btrs(int n, double p) {
	double np = n * p, spq = sqrt(np * (1 - p)), b = 1.15 + 2.53 * spq;
	double a = -0.0873 + 0.0248 * b + 0.01 * p, centre = np + 0.5, vr = 0.92 - 4.2 / b;
	for (;;) {
		double u = uniform() - 0.5, v = uniform(), us = 0.5 - fabs(u);
		double k = floor((2 * a / us + b) * u + centre);
		if (us >= 0.07 && v <= vr)
			return k;
		if (k < 0 || k > n)
			continue;
		double r = p / (1 - p), alpha = (2.83 + 5.1 / b) * spq, m = floor((n + 1) * p);
		v = log(v * alpha / (a / (us * us) + b));
		double bound = (m + 0.5) * log((m + 1) / (r * (n - m + 1))) +
			(n + 1) * log((n - m + 1) / (n - k + 1)) + (k + 0.5) * log(r * (n - k + 1) / (k + 1)) +
			stirling_rest(m) + stirling_rest(n - m) - stirling_rest(k) - stirling_rest(n - k);
		if (v <= bound)
			return k;
	}
}

static inline int low_binomial(int n, double p) { return n * p < 10 ? inversion(n, p) : btrs(n, p); }

static inline int binomial(int n, double p) {
	if (n <= FEW)
		return one_by_one(n, p);
	return p <= 0.5 ? low_binomial(n, p) : n - low_binomial(n, 1 - p);
}

// The advantages of a group with so many rewards: A+ of a reward, A- of none.
static inline int advantages(int rewarded, double *high, double *low) {
	if (rewarded == 0 || rewarded == c.group_size)
		return 0;
	double mean = (double)rewarded / c.group_size;
	double share = 1. / c.group_size / (c.scaled ? sqrt(mean * (1 - mean)) : 1);
	*high = share * (1 - mean);
	*low = -share * mean;
	return 1;
}

// Two arms: only z = θ_1 − θ_0 moves.
static struct sums two_arms(void) {
	struct sums sum = {0, 0};
	double z = 0, velocity = 0, old = 0;
	int64_t first = 0, first_rewarded = 0, rewarded = 0;
	long until_refresh = 0;
	for (long t = 0; t < c.steps; t++) {
		double p = 1 / (1 + exp(-z));
		if (until_refresh-- == 0) {
			old = p, until_refresh = c.interval - 1;
			first = threshold(old), first_rewarded = threshold(old * c.means[0]);
			rewarded = threshold(old + (1 - old) * c.means[1]);
		}
		if (t >= c.burn_in)
			sum.x += z, sum.square += z * z;
		int n1 = 0, k1 = 0, k0 = 0;
		if (c.group_size <= FEW) { // which of the four outcomes each sample has
			for (int i = 0; i < c.group_size; i++) {
				int64_t u = next() >> 11;
				k1 += u < first_rewarded;
				n1 += u < first;
				k0 += u < rewarded;
			}
			k0 -= n1;
		} else {
			n1 = binomial(c.group_size, old);
			k1 = binomial(n1, c.means[0]);
			k0 = binomial(c.group_size - n1, c.means[1]);
		}
		double force = -2 * c.kl * p * (1 - p) * z, high, low;
		if (advantages(k1 + k0, &high, &low)) {
			double a1 = high * k1 + low * (n1 - k1), a0 = high * k0 + low * (c.group_size - n1 - k0);
			if (c.ratio)
				a1 *= p / old, a0 *= (1 - p) / (1 - old);
			force += 2 * ((1 - p) * a1 - p * a0);
		}
		velocity = c.momentum * velocity + force;
		z += c.learning_rate * velocity;
	}
	return sum;
}

// The policy that draws the groups: of sample u, a word's 53 bits, arm a is the
// first with u < until[a], and u < rewarded[a] says whether it is rewarded.
struct behaviour {
	double p[MAX_ARMS];
	int64_t until[MAX_ARMS], rewarded[MAX_ARMS];
};

static void refresh(struct behaviour *old, const double *p) {
	double below = 0;
	for (int a = 0; a < c.arms; a++) {
		old->p[a] = p[a];
		old->rewarded[a] = threshold(below + p[a] * c.means[a]);
		old->until[a] = threshold(below += p[a]);
	}
}

// One group: counts of samples and of rewards.
static void draw_group(const struct behaviour *old, int *restrict count, int *restrict rewarded) {
	if (c.group_size <= FEW) {
		memset(count, 0, c.arms * sizeof *count);
		memset(rewarded, 0, c.arms * sizeof *rewarded);
		for (int i = 0; i < c.group_size; i++) {
			int64_t u = next() >> 11;
			int a = 0;
			for (int b = 0; b < c.arms - 1; b++)
				a += u >= old->until[b];
			count[a]++;
			rewarded[a] += u < old->rewarded[a];
		}
		return;
	}
	int left = c.group_size;
	double rest = 1;
	for (int a = 0; a < c.arms; a++) {
		count[a] = a == c.arms - 1 || old->p[a] >= rest ? left : binomial(left, old->p[a] / rest);
		rewarded[a] = binomial(count[a], c.means[a]);
		left -= count[a];
		rest -= old->p[a];
	}
}

// Any number of arms; x is the expected reward J.
static struct sums many_arms(void) {
	struct sums sum = {0, 0};
	double logit[MAX_ARMS] = {0}, velocity[MAX_ARMS] = {0}, p[MAX_ARMS], force[MAX_ARMS];
	struct behaviour old;
	int count[MAX_ARMS], rewarded[MAX_ARMS];
	long until_refresh = 0;
	for (long t = 0; t < c.steps; t++) {
		double norm = 0, reward = 0, pull = 0;
		for (int a = 0; a < c.arms; a++)
			norm += p[a] = exp(logit[a]); // of the order of 1: the penalty holds the logits
		for (int a = 0; a < c.arms; a++) {
			p[a] /= norm;
			reward += p[a] * c.means[a];
			pull += p[a] * logit[a];
		}
		if (until_refresh-- == 0)
			refresh(&old, p), until_refresh = c.interval - 1;
		if (t >= c.burn_in)
			sum.x += reward, sum.square += reward * reward;
		draw_group(&old, count, rewarded);
		int successes = 0;
		for (int a = 0; a < c.arms; a++)
			successes += rewarded[a];
		double high = 0, low = 0, total = 0;
		advantages(successes, &high, &low);
		for (int a = 0; a < c.arms; a++) {
			force[a] = high * rewarded[a] + low * (count[a] - rewarded[a]);
			if (c.ratio)
				force[a] *= p[a] / old.p[a];
			total += force[a];
		}
		for (int a = 0; a < c.arms; a++) {
			force[a] -= p[a] * (total + c.kl * (logit[a] - pull));
			velocity[a] = c.momentum * velocity[a] + force[a];
			logit[a] += c.learning_rate * velocity[a];
		}
	}
	return sum;
}

static void simulate(struct sums *of_each) {
	for (long i = 0; i < c.replicas; i++) {
		seed(c.seed * 0x9e3779b97f4a7c15 + i * 0xd1342543de82ef95);
		of_each[i] = c.arms == 2 ? two_arms() : many_arms();
	}
}
