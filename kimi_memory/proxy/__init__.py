"""The memory proxy: beside any chat, it adds what is known and keeps what is said."""
