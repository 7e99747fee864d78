// GRPO on a softmax bandit of Bernoulli arms in vectorised C: a peer of `make bench`.
//
// 32 replicas at a time on one core, in arrays whose innermost index is the replica, so
// that the compiler turns the loops over replicas into vector instructions. Groups are
// drawn sample by sample.
//
//   gcc -O3 -march=native -ffast-math -o lanes lanes.c -lm
//
// The process is that of bench/peers/README.md.
#include "peer.h"

enum { LANES = 32 };
#define LANE for (int r = 0; r < LANES; r++)

typedef uint32_t words[LANES];
typedef double numbers[LANES];

// The state of 32 replicas.
static words s[4];                                           // random numbers
static numbers logit[MAX_ARMS], velocity[MAX_ARMS];          // θ, v
static numbers p[MAX_ARMS], old[MAX_ARMS], force[MAX_ARMS];  // π, π_old, g
static words until[MAX_ARMS], until_rewarded[MAX_ARMS];      // bounds of a sample's word under π_old
static words below[MAX_ARMS], below_rewarded[MAX_ARMS];      // numbers of samples below the bounds

// xoshiro128++ (Blackman and Vigna), seeded by splitmix64.
static void seed(int lane, uint64_t x) {
	for (int i = 0; i < 4; i++) {
		x += 0x9e3779b97f4a7c15;
		uint64_t y = x;
		y = (y ^ (y >> 30)) * 0xbf58476d1ce4e5b9;
		y = (y ^ (y >> 27)) * 0x94d049bb133111eb;
		s[i][lane] = y ^ (y >> 31);
	}
}

static inline uint32_t rotl(uint32_t x, int k) { return (x << k) | (x >> (32 - k)); }

static inline void next(uint32_t *word) {
	LANE {
		uint32_t t = s[1][r] << 9;
		word[r] = rotl(s[0][r] + s[3][r], 7) + s[0][r];
		s[2][r] ^= s[0][r];
		s[3][r] ^= s[1][r];
		s[1][r] ^= s[2][r];
		s[0][r] ^= s[3][r];
		s[2][r] ^= t;
		s[3][r] = rotl(s[3][r], 11);
	}
}

static inline uint32_t threshold(double x) { return (int64_t)fmin(x * 0x1p32, 0x1p32 - 1); }

// π_old ← π. A sample with word u is of the first arm a with u < until[a], and rewarded
// if u < until_rewarded[a].
static inline void refresh(int arms) {
	numbers sum = {0};
	for (int a = 0; a < arms; a++)
		LANE {
			old[a][r] = p[a][r];
			until_rewarded[a][r] = threshold(sum[r] + p[a][r] * c.means[a]);
			sum[r] += p[a][r];
			until[a][r] = threshold(sum[r]);
		}
}

static inline void draw(int arms) {
	memset(below, 0, arms * sizeof *below);
	memset(below_rewarded, 0, arms * sizeof *below_rewarded);
	for (int i = 0; i < c.group_size; i++) {
		words word;
		next(word);
		for (int a = 0; a < arms; a++)
			LANE {
				below[a][r] += word[r] < until[a][r];
				below_rewarded[a][r] += word[r] < until_rewarded[a][r];
			}
	}
	LANE below[arms - 1][r] = c.group_size;
}

// Sets g to the reward part of the force, and total to its sum.
static inline void rewards(int arms, double *total) {
	numbers successes = {0}, high, low;
	for (int a = 0; a < arms; a++)
		LANE successes[r] += (int)(below_rewarded[a][r] - (a ? below[a - 1][r] : 0));
	LANE {
		double mean = successes[r] / c.group_size, spread = mean * (1 - mean);
		double share = spread > 0 ? 1. / c.group_size / (c.scaled ? sqrt(spread) : 1) : 0;
		high[r] = share * (1 - mean), low[r] = -share * mean;
		total[r] = 0;
	}
	for (int a = 0; a < arms; a++)
		LANE {
			int start = a ? below[a - 1][r] : 0, rewarded = below_rewarded[a][r] - start;
			force[a][r] = high[r] * rewarded + low[r] * ((int)below[a][r] - start - rewarded);
			if (c.ratio)
				force[a][r] *= p[a][r] / old[a][r];
			total[r] += force[a][r];
		}
}

static inline void step(int arms, long t, double *x, double *square) {
	numbers norm = {0}, reward = {0}, pull = {0}, total;
	for (int a = 0; a < arms; a++)
		LANE norm[r] += p[a][r] = exp(logit[a][r]); // of the order of 1: the penalty holds the logits
	for (int a = 0; a < arms; a++)
		LANE {
			p[a][r] /= norm[r];
			reward[r] += p[a][r] * c.means[a];
			pull[r] += p[a][r] * logit[a][r];
		}
	if (t % c.interval == 0)
		refresh(arms);
	if (t >= c.burn_in)
		LANE {
			double observed = arms == 2 ? logit[0][r] - logit[1][r] : reward[r];
			x[r] += observed, square[r] += observed * observed;
		}
	draw(arms);
	rewards(arms, total);
	for (int a = 0; a < arms; a++)
		LANE {
			force[a][r] -= p[a][r] * (total[r] + c.kl * (logit[a][r] - pull[r]));
			velocity[a][r] = c.momentum * velocity[a][r] + force[a][r];
			logit[a][r] += c.learning_rate * velocity[a][r];
		}
}

static void simulate(struct sums *of_each) {
	for (long first = 0; first < c.replicas; first += LANES) {
		numbers x = {0}, square = {0};
		memset(logit, 0, sizeof logit);
		memset(velocity, 0, sizeof velocity);
		LANE seed(r, c.seed * 0x9e3779b97f4a7c15 + (first + r) * 0xd1342543de82ef95);
		for (long t = 0; t < c.steps; t++)
			if (c.arms == 2)
				step(2, t, x, square);
			else
				step(c.arms, t, x, square);
		for (int r = 0; r < LANES && first + r < c.replicas; r++)
			of_each[first + r] = (struct sums){x[r], square[r]};
	}
}
