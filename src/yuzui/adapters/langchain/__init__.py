"""LangChain: the native engine's agent loop and models of providers other than OpenAI's protocol. Imported lazily: it takes seconds."""
