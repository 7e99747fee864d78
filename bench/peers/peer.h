// What the peers in C share: the configuration, its flags, and the answer
// (bench/peers/README.md). A peer includes it and defines simulate.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MAX_ARMS = 1024 };

static struct {
	int arms, group_size, interval, ratio, scaled;
	double means[MAX_ARMS], momentum, learning_rate, kl;
	long steps, burn_in, replicas;
	uint64_t seed;
} c;

// A replica's sums after burn-in, of x and of x².
struct sums { double x, square; };

// Runs all replicas.
static void simulate(struct sums *of_each);

// Mean and standard error of n values.
static void estimate(const double *value, long n, double *mean, double *error) {
	double sum = 0, squares = 0;
	for (long i = 0; i < n; i++)
		sum += value[i];
	*mean = sum / n;
	for (long i = 0; i < n; i++)
		squares += (value[i] - *mean) * (value[i] - *mean);
	*error = sqrt(squares / (n - 1) / n);
}

static void parse(int argc, char **argv) {
	for (int i = 1; i + 1 < argc; i += 2) {
		const char *flag = argv[i], *value = argv[i + 1];
		if (!strcmp(flag, "--means")) {
			char *rest = (char *)value;
			for (c.arms = 0; c.arms < MAX_ARMS && *rest; rest += *rest == ',')
				c.means[c.arms++] = strtod(rest, &rest);
		} else if (!strcmp(flag, "--group-size")) c.group_size = atoi(value);
		else if (!strcmp(flag, "--interval")) c.interval = atoi(value);
		else if (!strcmp(flag, "--importance")) c.ratio = !strcmp(value, "ratio");
		else if (!strcmp(flag, "--scale")) c.scaled = !strcmp(value, "std");
		else if (!strcmp(flag, "--momentum")) c.momentum = atof(value);
		else if (!strcmp(flag, "--learning-rate")) c.learning_rate = atof(value);
		else if (!strcmp(flag, "--kl")) c.kl = atof(value);
		else if (!strcmp(flag, "--steps")) c.steps = atol(value);
		else if (!strcmp(flag, "--burn-in")) c.burn_in = atol(value);
		else if (!strcmp(flag, "--replicas")) c.replicas = atol(value);
		else if (!strcmp(flag, "--seed")) c.seed = strtoull(value, 0, 10);
		else if (strcmp(flag, "--workers") || atoi(value) != 1) {
			fprintf(stderr, "peer: cannot do %s %s\n", flag, value);
			exit(2);
		}
	}
}

int main(int argc, char **argv) {
	parse(argc, argv);
	double *x = calloc(c.replicas, sizeof *x), *square = calloc(c.replicas, sizeof *square);
	struct sums *of_each = calloc(c.replicas, sizeof *of_each);
	struct timespec start, end;
	clock_gettime(CLOCK_MONOTONIC, &start);
	simulate(of_each);
	clock_gettime(CLOCK_MONOTONIC, &end);
	for (long i = 0; i < c.replicas; i++) {
		x[i] = of_each[i].x / (c.steps - c.burn_in);
		square[i] = of_each[i].square / (c.steps - c.burn_in);
	}
	double mean, mean_error, variance, variance_error;
	estimate(x, c.replicas, &mean, &mean_error);
	for (long i = 0; i < c.replicas; i++) // each replica's time average of (x − mean)²
		square[i] += mean * (mean - 2 * x[i]);
	estimate(square, c.replicas, &variance, &variance_error);
	printf("{\"seconds\": %.9f, \"steps\": %ld, \"replicas\": %ld, \"mean\": %.17g, \"mean_error\": %.17g, "
		"\"variance\": %.17g, \"variance_error\": %.17g}\n",
		end.tv_sec - start.tv_sec + 1e-9 * (end.tv_nsec - start.tv_nsec), c.steps, c.replicas,
		mean, mean_error, variance, variance_error);
	return 0;
}
