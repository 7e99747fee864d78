//go:build long

package rom

// Thin is 1: every case, and as many random ones as rapid draws by itself.
const Thin = 1
