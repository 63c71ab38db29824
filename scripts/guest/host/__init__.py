"""The host's side of the lab: it fetches kernels, packs a guest, boots it and keeps what it showed."""
