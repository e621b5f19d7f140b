// Probes
