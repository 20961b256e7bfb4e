"""The peers, each built from its library's public interface alone, and the floors."""
