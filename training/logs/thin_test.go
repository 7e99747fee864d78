//go:build !long

package logs

// thin is the factor by which fast tests thin out changes of files; long ones try all.
const thin = 8
