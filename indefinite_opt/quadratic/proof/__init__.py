"""Certificates, proofs and their checker."""
