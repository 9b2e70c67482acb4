// Moody
