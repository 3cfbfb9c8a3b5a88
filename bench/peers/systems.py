"""Ways to fill, open and search each system, in the plainest manner that its own pages show.

Every system is given the same passages with the same vectors, ready cut and embedded, keeps their
texts, and is asked by words and by meaning together where it can. Its own defaults hold in all
else. Each is imported only when it is used, in an environment where it is installed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

Search = Callable[[str, Vectors, int], Sequence[str]]
"""The documents of the k best passages for a question with its vector, best first; one whose
passages are several is there several times."""

READ: Final = 5
"""For k passages a system that fuses two runs is to read so many times k of each."""


@dataclass(frozen=True, slots=True)
class Passages:
    """The texts as they are searched, the document of each and its vector; `folder` holds them,
    and the documents from which they were cut."""

    texts: list[str]
    documents: list[str]
    vectors: Vectors
    folder: Path


def read_passages(folder: Path) -> Passages:
    """What `prepare_set` wrote."""
    with (folder / "passages.jsonl").open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    texts, documents = [row["text"] for row in rows], [row["document"] for row in rows]
    return Passages(texts, documents, np.load(folder / "passages.npy"), folder)


class System(Protocol):
    """One system: `fill` keeps all that it needs below a folder, from which `open` searches.

    `modules` are those that must be imported before either.
    """

    @property
    def modules(self) -> tuple[str, ...]: ...

    def fill(self, passages: Passages, folder: Path) -> None: ...

    def open(self, folder: Path) -> Search: ...


class Ibid:
    """It cuts the documents itself, which the others are spared, and looks their vectors up."""

    modules = ("ibid",)

    def fill(self, passages: Passages, folder: Path) -> None:
        from remembering import RememberingEmbedder

        import ibid

        vectors = dict(zip(passages.texts, passages.vectors, strict=True))
        with (passages.folder / "documents.jsonl").open(encoding="utf-8") as file:
            documents = [ibid.Document(**json.loads(line)) for line in file]
        embedder = RememberingEmbedder(vectors)
        with ibid.open(folder / "library", embedder=embedder) as library:
            library.ingest(documents)

    def open(self, folder: Path) -> Search:
        from remembering import RememberingEmbedder

        import ibid

        embedder = RememberingEmbedder({})
        library = ibid.open(folder / "library", embedder=embedder)

        def search(question: str, vector: Vectors, k: int) -> Sequence[str]:
            embedder.asked = vector
            return [hit.document_id for hit in library.search(question, k=k)]

        return search


class LanceDB:
    """One table with a vector and a full-text index, both runs fused by reciprocal ranks."""

    modules = ("lancedb", "pyarrow")

    def fill(self, passages: Passages, folder: Path) -> None:
        import lancedb
        import pyarrow

        dimension = passages.vectors.shape[1]
        flat = pyarrow.array(passages.vectors.ravel())
        rows = pyarrow.table(
            {
                "document": passages.documents,
                "text": passages.texts,
                "vector": pyarrow.FixedSizeListArray.from_arrays(flat, dimension),
            }
        )
        table = lancedb.connect(folder).create_table("passages", rows)
        table.create_fts_index("text")

    def open(self, folder: Path) -> Search:
        import lancedb

        table = lancedb.connect(folder).open_table("passages")

        def search(question: str, vector: Vectors, k: int) -> Sequence[str]:
            asked = table.search(query_type="hybrid").vector(vector).text(question).limit(k)
            return [row["document"] for row in asked.to_list()]

        return search


class Chroma:
    """A collection on disk; what runs on one's own machine searches by meaning alone."""

    modules = ("chromadb",)

    def fill(self, passages: Passages, folder: Path) -> None:
        client = self._open_client(folder)
        configuration = {"hnsw": {"space": "cosine"}}
        collection = client.create_collection(
            "passages", embedding_function=None, configuration=configuration
        )
        batch = client.get_max_batch_size()
        for start in range(0, len(passages.texts), batch):
            taken = slice(start, start + batch)
            texts = passages.texts[taken]
            collection.add(
                ids=[str(row) for row in range(start, start + len(texts))],
                embeddings=passages.vectors[taken],
                documents=texts,
                metadatas=[{"document": id} for id in passages.documents[taken]],
            )

    def open(self, folder: Path) -> Search:
        collection = self._open_client(folder).get_collection("passages", embedding_function=None)

        def search(question: str, vector: Vectors, k: int) -> Sequence[str]:
            found = collection.query(query_embeddings=[vector], n_results=k)
            return [data["document"] for data in found["metadatas"][0]]

        return search

    def _open_client(self, folder: Path) -> Any:
        import chromadb

        quiet = chromadb.Settings(anonymized_telemetry=False)
        return chromadb.PersistentClient(str(folder), settings=quiet)


class LangChain:
    """FAISS beside its BM25, which is kept nowhere and made anew from the texts; fused by ranks."""

    modules = (
        "langchain_classic.retrievers",
        "langchain_community.retrievers",
        "langchain_community.vectorstores",
    )

    def fill(self, passages: Passages, folder: Path) -> None:
        from langchain_community.vectorstores import FAISS

        pairs = zip(passages.texts, passages.vectors.tolist(), strict=True)
        kept = [{"document": id} for id in passages.documents]
        FAISS.from_embeddings(pairs, _make_langchain_embedder(), metadatas=kept).save_local(
            str(folder)
        )

    def open(self, folder: Path) -> Search:
        from langchain_classic.retrievers import EnsembleRetriever
        from langchain_community.retrievers import BM25Retriever
        from langchain_community.vectorstores import FAISS

        embedder = _make_langchain_embedder()
        store = FAISS.load_local(str(folder), embedder, allow_dangerous_deserialization=True)
        words = BM25Retriever.from_documents(list(store.docstore._dict.values()))

        def search(question: str, vector: Vectors, k: int) -> Sequence[str]:
            embedder.vector = vector.tolist()
            words.k = k * READ
            meaning = store.as_retriever(search_kwargs={"k": k * READ})
            both = EnsembleRetriever(retrievers=[words, meaning], weights=[0.5, 0.5])
            return [found.metadata["document"] for found in both.invoke(question)[:k]]

        return search


def _make_langchain_embedder() -> Any:
    from langchain_core.embeddings import Embeddings

    class Given(Embeddings):  # type: ignore[misc]  # Any, where it is not installed
        """Gives the vector that it was given."""

        vector: list[float]

        def embed_query(self, text: str) -> list[float]:
            return self.vector

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            raise NotImplementedError("passages come with their vectors")

    return Given()


class LlamaIndex:
    """Its simple vector store beside bm25s, fused by reciprocal ranks without other questions."""

    modules = ("llama_index.core", "llama_index.retrievers.bm25")

    def fill(self, passages: Passages, folder: Path) -> None:
        from llama_index.core import VectorStoreIndex
        from llama_index.core.schema import TextNode
        from llama_index.retrievers.bm25 import BM25Retriever

        nodes = [
            TextNode(text=text, metadata={"document": id}, embedding=vector)
            for text, id, vector in zip(
                passages.texts, passages.documents, passages.vectors.tolist(), strict=True
            )
        ]
        index = VectorStoreIndex(nodes, embed_model=_make_llama_embedder())
        index.storage_context.persist(str(folder / "vectors"))
        BM25Retriever.from_defaults(nodes=nodes).persist(str(folder / "words"))

    def open(self, folder: Path) -> Search:
        from llama_index.core import QueryBundle, StorageContext, load_index_from_storage
        from llama_index.core.llms import MockLLM
        from llama_index.core.retrievers import QueryFusionRetriever
        from llama_index.retrievers.bm25 import BM25Retriever

        embedder = _make_llama_embedder()
        context = StorageContext.from_defaults(persist_dir=str(folder / "vectors"))
        index = load_index_from_storage(context, embed_model=embedder)
        words = BM25Retriever.from_persist_dir(str(folder / "words"))
        meaning = index.as_retriever()

        def search(question: str, vector: Vectors, k: int) -> Sequence[str]:
            words.similarity_top_k = meaning.similarity_top_k = k * READ
            both = QueryFusionRetriever(
                [words, meaning],
                llm=MockLLM(),
                mode="reciprocal_rerank",
                similarity_top_k=k,
                num_queries=1,
                use_async=False,
            )
            asked = QueryBundle(question, embedding=vector.tolist())
            return [found.node.metadata["document"] for found in both.retrieve(asked)]

        return search


def _make_llama_embedder() -> Any:
    from llama_index.core import MockEmbedding

    return MockEmbedding(embed_dim=384)  # never asked: questions come with their vectors


class Haystack:
    """Its store in memory, kept as a file, with both retrievers and a joiner by ranks."""

    modules = (
        "haystack.components.joiners",
        "haystack.components.retrievers.in_memory",
        "haystack.document_stores.in_memory",
    )

    def fill(self, passages: Passages, folder: Path) -> None:
        from haystack import Document
        from haystack.document_stores.in_memory import InMemoryDocumentStore

        store = InMemoryDocumentStore(embedding_similarity_function="cosine")
        rows = zip(passages.texts, passages.documents, passages.vectors.tolist(), strict=True)
        store.write_documents(
            [
                Document(content=text, meta={"document": id}, embedding=vector)
                for text, id, vector in rows
            ]
        )
        store.save_to_disk(str(folder / "store.json"))

    def open(self, folder: Path) -> Search:
        from haystack.components.joiners import DocumentJoiner
        from haystack.components.retrievers.in_memory import (
            InMemoryBM25Retriever,
            InMemoryEmbeddingRetriever,
        )
        from haystack.document_stores.in_memory import InMemoryDocumentStore

        store = InMemoryDocumentStore.load_from_disk(str(folder / "store.json"))
        words, meaning = InMemoryBM25Retriever(store), InMemoryEmbeddingRetriever(store)
        joiner = DocumentJoiner(join_mode="reciprocal_rank_fusion")

        def search(question: str, vector: Vectors, k: int) -> Sequence[str]:
            runs = [
                words.run(question, top_k=k * READ)["documents"],
                meaning.run(vector.tolist(), top_k=k * READ)["documents"],
            ]
            return [found.meta["document"] for found in joiner.run(runs, top_k=k)["documents"]]

        return search


class Txtai:
    """Its hybrid index with the texts beside it; vectors come from a function that it finds."""

    modules = ("txtai",)

    def fill(self, passages: Passages, folder: Path) -> None:
        import txtai

        _known.update(zip(passages.texts, passages.vectors, strict=True))
        index = txtai.Embeddings(hybrid=True, content=True, transform=_LOOK_UP)
        rows = enumerate(zip(passages.texts, passages.documents, strict=True))
        index.index((row, {"text": text, "document": id}, None) for row, (text, id) in rows)
        index.save(str(folder / "index"))

    def open(self, folder: Path) -> Search:
        import txtai

        index = txtai.Embeddings()
        index.load(str(folder / "index"))
        said = "select document from txtai where similar(:question)"

        def search(question: str, vector: Vectors, k: int) -> Sequence[str]:
            _known[question] = vector
            found = index.search(said, limit=k, parameters={"question": question})
            return [row["document"] for row in found]

        return search


_LOOK_UP: Final = "systems.look_up"

_known: dict[str, Vectors] = {}


def look_up(texts: Sequence[str]) -> Vectors:
    """The vectors of texts that are known."""
    return np.stack([_known[text] for text in texts])


SYSTEMS: Final[Mapping[str, System]] = {
    "ibid": Ibid(),
    "lancedb": LanceDB(),
    "chromadb": Chroma(),
    "langchain": LangChain(),
    "llama-index-core": LlamaIndex(),
    "haystack-ai": Haystack(),
    "txtai": Txtai(),
}
"""By the name of the distribution that is installed."""
