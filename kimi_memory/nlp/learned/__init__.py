"""Judgements learned from labelled sentences, by a linear model that needs no library."""
