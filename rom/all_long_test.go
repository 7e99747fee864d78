//go:build long

package rom

// Thin is 1: the long tests try every case, and as many random ones as rapid draws by default.
const Thin = 1
