"""Writes a tiny random checkpoint of CosyVoice 1, 2 or 3, by upstream's own yaml with smaller numbers in it.

The shapes of files, names and interfaces are the real ones; the weights are random but for the end of speech, which
comes after so many tokens for each one of the text that a sentence is about as long as a real one.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

SMALL = {
    "text_encoder_input_size": 32, "llm_input_size": 32, "llm_output_size": 32, "linear_units": 64, "num_blocks": 1,
    "attention_head_dim": 16, "n_blocks": 1, "num_mid_blocks": 1, "num_heads": 2, "base_channels": 32,
    "cond_channels": 32, "attention_heads": 2, "dim": 64, "depth": 1, "heads": 2, "dim_head": 16,
}  # fmt: skip
YAMLS = {1: "cosyvoice.yaml", 2: "cosyvoice2.yaml", 3: "cosyvoice3.yaml"}
BLANK = "CosyVoice-BlankEN"
# Upstream has the number of its first added token written down.
QWEN_TOKENS = 151_643
PRESETS = ("中文女", "英文男", "日语男", "粤语女", "韩语女")


def write_checkpoint(directory: Path, code: Path, version: int) -> Path:
    """A model's directory, with voices for the first version and none for the others."""
    import torch

    directory.mkdir(parents=True)
    (directory / YAMLS[version]).write_text(_yaml(code, version), encoding="utf-8")
    _onnx(directory, version)
    torch.manual_seed(1)
    if version > 1:
        _language_model(directory / BLANK)
    parts = _parts(directory, version)
    _end_of_speech(parts["llm"], version)
    _audible(parts["hift"])
    for name in ("llm", "flow", "hift"):
        torch.save(parts[name].state_dict(), directory / f"{name}.pt")
    if version == 1:
        torch.save({name: {"embedding": torch.randn(1, 192)} for name in PRESETS}, directory / "spk2info.pt")
    return directory


def _yaml(code: Path, version: int) -> str:
    name = YAMLS[version]
    text = (code / "examples" / "libritts" / name.removesuffix(".yaml") / "conf" / name).read_text(encoding="utf-8")
    for key, value in SMALL.items():
        text = re.sub(rf"^(\s*){key}: \d+", rf"\g<1>{key}: {value}", text, flags=re.MULTILINE)
    if version == 1:  # the second has the 512 in its code too
        text = re.sub(r"^(\s+)(input|output)_size: (512|1024)$", r"\g<1>\g<2>_size: 32", text, flags=re.MULTILINE)
    text = re.sub(r"channels: \[256(, 256)?\]", lambda match: f"channels: [32{', 32' if match[1] else ''}]", text)
    return re.sub(r"^(\s+)channels: 1024$", r"\g<1>channels: 32", text, flags=re.MULTILINE)


def _parts(directory: Path, version: int) -> dict[str, Any]:
    from hyperpyyaml import load_hyperpyyaml

    overrides = {"qwen_pretrain_path": str(directory / BLANK)} if version > 1 else {}
    with (directory / YAMLS[version]).open(encoding="utf-8") as file:
        loaded: dict[str, Any] = load_hyperpyyaml(file, overrides=overrides)
    return loaded


def _end_of_speech(llm: Any, version: int) -> None:
    """The first model never ends by itself: it makes all of 20 tokens for one; the others end as soon as they may."""
    import torch

    with torch.no_grad():
        if version == 1:
            llm.llm_decoder.bias[llm.speech_token_size] = -1e4
        elif version == 2:
            llm.llm_decoder.bias[llm.speech_token_size] = 1e4
        else:
            # It has no bias: a number of its hidden state that is always the same stands for one.
            body = llm.llm.model.model
            for layer in body.layers:
                layer.self_attn.o_proj.weight.zero_()
                layer.mlp.down_proj.weight.zero_()
            for embedding in (body.embed_tokens, llm.speech_embedding):
                embedding.weight[:, 0] = 10.0
            llm.llm_decoder.weight[llm.speech_token_size :] *= 0.0
            llm.llm_decoder.weight[llm.speech_token_size, 0] = 100.0


def _audible(hift: Any) -> None:
    """Random numbers hum too softly, or not at all."""
    import torch

    with torch.no_grad():
        hift.conv_post.bias[:9] += 1.0


def _language_model(directory: Path) -> None:
    """A Qwen2 of one small layer, whose tokenizer knows bytes and fills the rest of the vocabulary up."""
    from tokenizers.pre_tokenizers import ByteLevel
    from transformers import Qwen2Config, Qwen2ForCausalLM, Qwen2TokenizerFast

    directory.mkdir()
    vocabulary = {character: number for number, character in enumerate(sorted(ByteLevel.alphabet()))}
    vocabulary |= {f"filler{number}": number for number in range(len(vocabulary), QWEN_TOKENS)}
    (directory / "vocab.json").write_text(json.dumps(vocabulary, ensure_ascii=False), encoding="utf-8")
    (directory / "merges.txt").write_text("#version: 0.2\n", encoding="utf-8")
    files = {"vocab_file": str(directory / "vocab.json"), "merges_file": str(directory / "merges.txt")}
    special = {"additional_special_tokens": ["<|im_start|>", "<|im_end|>"]}
    Qwen2TokenizerFast(**files, **special).save_pretrained(directory)
    small = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = Qwen2Config(vocab_size=151_936, num_key_value_heads=2, tie_word_embeddings=True, **small)
    Qwen2ForCausalLM(config).save_pretrained(directory)


def _onnx(directory: Path, version: int) -> None:
    """The two small networks that hear a reference: means and steps in place of what they learned."""
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    draw = np.random.default_rng(1)
    project = numpy_helper.from_array(draw.normal(size=(80, 192)).astype(np.float32), "project")
    speaker = helper.make_graph(
        [
            helper.make_node("Abs", ["feats"], ["size"]),
            helper.make_node("ReduceMean", ["size"], ["mean"], axes=[1], keepdims=0),
            helper.make_node("MatMul", ["mean", "project"], ["embedding"]),
        ],
        "campplus",
        [helper.make_tensor_value_info("feats", TensorProto.FLOAT, [1, None, 80])],
        [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, [1, 192])],
        [project],
    )
    # Mel frames come at 100 Hz, tokens at 50 in the first model, at 25 in the others.
    numbers = {"starts": [0], "ends": [10**9], "axes": [1], "steps": [2 if version == 1 else 4]}
    constants = [numpy_helper.from_array(np.array(value, np.int64), name) for name, value in numbers.items()]
    constants += [
        numpy_helper.from_array(np.array(value, np.float32), name) for name, value in (("k", 999), ("m", 4000))
    ]
    tokens = helper.make_graph(
        [
            helper.make_node("ReduceMean", ["feats"], ["mean"], axes=[1], keepdims=0),
            helper.make_node("Slice", ["mean", "starts", "ends", "axes", "steps"], ["some"]),
            helper.make_node("Abs", ["some"], ["size"]),
            helper.make_node("Mul", ["size", "k"], ["large"]),
            helper.make_node("Mod", ["large", "m"], ["rest"], fmod=1),
            helper.make_node("Cast", ["rest"], ["tokens"], to=TensorProto.INT32),
        ],
        "speech_tokenizer",
        [
            helper.make_tensor_value_info("feats", TensorProto.FLOAT, [1, 128, None]),
            helper.make_tensor_value_info("feats_length", TensorProto.INT32, [1]),
        ],
        [helper.make_tensor_value_info("tokens", TensorProto.INT32, [1, None])],
        constants,
    )
    for name, graph in (("campplus.onnx", speaker), (f"speech_tokenizer_v{version}.onnx", tokens)):
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        onnx.save(model, directory / name)
