"""Writes a tiny random checkpoint for upstream's IndexTTS 2 or 2.5: every file that it loads, a few megabytes in all.

The sizes that upstream's code fixes (1024, 1280, 17 layers) stay; what would be large is stored as an overlapping view
of a few random numbers, which torch keeps as such on disk.
"""

import base64
import copy
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
import yaml

SYLLABLES = ("XING2", "HANG2", "YIN2", "CHONG2", "JV2", "LV4", "DE5")
TEXTS = ("今天我们去公园散步吧你好银行居重新说一句话另外", "LET US WALK IN THE PARK GOOD MORNING", "0123456789,.!?-'")
STOP = -1.5
GPT = {
    "model_dim": 1280,
    "max_mel_tokens": 1600,
    "max_text_tokens": 200,
    "heads": 4,
    "use_mel_codes_as_input": True,
    "mel_length_compression": 1024,
    "layers": 1,
    "number_text_tokens": 2400,
    "number_mel_codes": 66,
    "start_mel_token": 64,
    "stop_mel_token": 65,
    "start_text_token": 0,
    "stop_text_token": 1,
    "train_solo_embeddings": False,
    "condition_type": "conformer_perceiver",
    "condition_module": {
        "output_size": 32,
        "linear_units": 32,
        "attention_heads": 2,
        "num_blocks": 1,
        "input_layer": "conv2d2",
        "perceiver_mult": 1,
    },
    "emo_condition_module": {
        "output_size": 32,
        "linear_units": 32,
        "attention_heads": 2,
        "num_blocks": 1,
        "input_layer": "conv2d2",
        "perceiver_mult": 1,
    },
}
CODEC = {"codebook_size": 64, "hidden_size": 1024, "codebook_dim": 8, "vocos_dim": 16, "vocos_intermediate_dim": 16, "vocos_num_layers": 1}  # fmt: skip  # noqa: E501
S2MEL = {
    "preprocess_params": {
        "sr": 22050,
        "spect_params": {"n_fft": 1024, "win_length": 1024, "hop_length": 256, "n_mels": 80, "fmin": 0, "fmax": "None"},
    },
    "dit_type": "DiT",
    "reg_loss_type": "l1",
    "style_encoder": {"dim": 192},
    "length_regulator": {
        "channels": 32,
        "is_discrete": False,
        "in_channels": 1024,
        "content_codebook_size": 64,
        "sampling_ratios": [1, 1],
        "vector_quantize": False,
        "n_codebooks": 1,
        "quantizer_dropout": 0.0,
        "f0_condition": False,
        "n_f0_bins": 16,
    },
    "DiT": {
        "hidden_dim": 32,
        "num_heads": 2,
        "depth": 3,
        "class_dropout_prob": 0.1,
        "block_size": 8192,
        "in_channels": 80,
        "style_condition": True,
        "final_layer_type": "wavenet",
        "target": "mel",
        "content_dim": 32,
        "content_codebook_size": 64,
        "content_type": "discrete",
        "f0_condition": False,
        "n_f0_bins": 16,
        "content_codebooks": 1,
        "is_causal": False,
        "long_skip_connection": True,
        "zero_prompt_speech_token": False,
        "time_as_token": False,
        "style_as_token": False,
        "uvit_skip_connection": True,
        "add_resblock_in_transformer": False,
    },
    "wavenet": {
        "hidden_dim": 32,
        "num_layers": 2,
        "kernel_size": 5,
        "dilation_rate": 1,
        "p_dropout": 0.2,
        "style_condition": True,
    },
}
VOCODER = {
    "resblock": "1",
    "num_mels": 80,
    "upsample_rates": [4, 4, 2, 2, 2, 2],
    "upsample_kernel_sizes": [8, 8, 4, 4, 4, 4],
    "upsample_initial_channel": 128,
    "resblock_kernel_sizes": [3],
    "resblock_dilation_sizes": [[1, 3, 5]],
    "activation": "snakebeta",
    "snake_logscale": True,
    "use_tanh_at_final": False,
    "use_bias_at_final": False,
}


def write(directory: Path, release: str) -> None:
    """The model directory, with the auxiliary models in its hf_cache. Needs upstream's checkout on the path."""
    torch.manual_seed(20_261_130)
    aux = directory / "hf_cache"
    aux.mkdir(parents=True)
    codec = CODEC if release == "2" else CODEC | {"num_quantizers": 1, "downsample_scale": 2}
    config = {
        "dataset": {"bpe_model": "bpe.model"},
        "gpt": GPT,
        "semantic_codec": codec,
        "s2mel": S2MEL,
        "gpt_checkpoint": "gpt.pth",
        "w2v_stat": "wav2vec2bert_stats.pt",
        "s2mel_checkpoint": "s2mel.pth",
        "emo_matrix": "feat2.pt",
        "spk_matrix": "feat1.pt",
        "emo_num": [2] * 8,
        "qwen_emo_path": "qwen0.6bemo4-merge/",
        "version": float(release),
    }
    (directory / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    (directory / "pinyin.vocab").write_text("\n".join(SYLLABLES) + "\n", encoding="utf-8")
    _write_model(directory, release)
    torch.save({"mean": torch.zeros(1024), "var": torch.ones(1024)}, directory / "wav2vec2bert_stats.pt")
    torch.save(torch.randn(16, 1280) * 0.3, directory / "feat2.pt")
    torch.save(torch.randn(16, 192), directory / "feat1.pt")
    _write_tokens(directory, release)
    _write_codec(directory, release, codec)
    _write_hearing(aux / "w2v-bert-2.0")
    _write_speaker_and_vocoder(aux)


def _write_model(directory: Path, release: str) -> None:
    from indextts.s2mel.modules.commons import MyModel
    from omegaconf import OmegaConf

    if release == "2":
        from indextts.gpt.model_v2 import UnifiedVoice

        gpt, s2mel = UnifiedVoice(**OmegaConf.create(GPT)), MyModel(OmegaConf.create(S2MEL), use_gpt_latent=True)
    else:
        from indextts.gpt.model_v2 import UnifiedVoice

        gpt = UnifiedVoice(**OmegaConf.create(GPT), spk_cond_mode="campplus")
        s2mel = MyModel(OmegaConf.create(S2MEL))
    state = _slim(gpt.state_dict())
    # The end is not too likely at each step, so that a sentence has some dozens of codes.
    state["mel_head.bias"] = torch.zeros(GPT["number_mel_codes"])
    state["mel_head.bias"][GPT["stop_mel_token"]] = STOP
    torch.save({"model": state}, directory / "gpt.pth")
    parts = {name: _slim(part.state_dict()) for name, part in s2mel.models.items()}
    torch.save({"net": parts}, directory / "s2mel.pth")


def _write_codec(directory: Path, release: str, codec: dict[str, int]) -> None:
    from omegaconf import OmegaConf

    if release == "2":
        from indextts.codec.maskgct_codec import build_semantic_codec
        from safetensors.torch import save_model

        save_model(build_semantic_codec(OmegaConf.create(codec)), str(directory / "hf_cache/semantic_codec_model.safetensors"))  # fmt: skip  # noqa: E501
        return
    from indextts.codec.models import EnhancedCodec

    made = EnhancedCodec(**codec, cfg=OmegaConf.create(codec))
    torch.save({"model": _slim(made.state_dict())}, directory / "codec.pth")


def _write_hearing(directory: Path) -> None:
    from transformers import SeamlessM4TFeatureExtractor, Wav2Vec2BertConfig, Wav2Vec2BertModel

    config = Wav2Vec2BertConfig(
        vocab_size=None,
        hidden_size=1024,
        num_hidden_layers=17,
        num_attention_heads=4,
        intermediate_size=16,
        conv_depthwise_kernel_size=3,
        left_max_position_embeddings=4,
        right_max_position_embeddings=2,
    )
    directory.mkdir()
    config.save_pretrained(directory)
    SeamlessM4TFeatureExtractor(feature_size=80, num_mel_bins=80, stride=2).save_pretrained(directory)
    with torch.device("meta"):
        shapes = Wav2Vec2BertModel(config).state_dict()
    torch.save(_slim(shapes), directory / "pytorch_model.bin")


def _write_speaker_and_vocoder(aux: Path) -> None:
    from indextts.s2mel.modules.bigvgan.bigvgan import BigVGAN
    from indextts.s2mel.modules.bigvgan.env import AttrDict
    from indextts.s2mel.modules.campplus.DTDNN import CAMPPlus

    torch.save(_slim(CAMPPlus(feat_dim=80, embedding_size=192).state_dict()), aux / "campplus_cn_common.bin")
    (aux / "bigvgan").mkdir()
    (aux / "bigvgan" / "config.json").write_text(json.dumps(VOCODER), encoding="utf-8")
    vocoder = BigVGAN(AttrDict(copy.deepcopy(VOCODER)))
    torch.save({"generator": vocoder.state_dict()}, aux / "bigvgan" / "bigvgan_generator.pt")


def _write_tokens(directory: Path, release: str) -> None:
    if release != "2":
        single = (base64.b64encode(bytes([byte])).decode() + f" {byte}\n" for byte in range(256))
        (directory / "multilingual_zh_ja_yue_char_del.tiktoken").write_text("".join(single), encoding="ascii")
        return
    import sentencepiece

    characters = sorted(set("".join(TEXTS)) - {" "})
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=_lines(characters),
        model_prefix=str(directory / "bpe"),
        model_type="bpe",
        vocab_size=len(characters) + len(SYLLABLES) + 4,
        character_coverage=1.0,
        user_defined_symbols=list(SYLLABLES),
        bos_id=0,
        eos_id=1,
        unk_id=2,
        hard_vocab_limit=False,
        minloglevel=2,
    )


def _lines(characters: Iterable[str]) -> Any:
    return iter([*TEXTS * 20, *characters])


def _slim(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: _tensor(name, tensor) for name, tensor in state.items()}


def _tensor(name: str, like: torch.Tensor) -> torch.Tensor:
    """Small ones as they are; large ones random, each element near the next one's numbers in memory."""
    if like.device.type != "meta" and (like.numel() < 4096 or not like.is_floating_point()):
        return like.clone()
    if like.ndim < 2:
        return torch.zeros(like.shape) if name.endswith("bias") else torch.ones(like.shape)
    strides = [1, 3, 7, 11][: like.ndim]
    length = 1 + sum((size - 1) * stride for size, stride in zip(like.shape, strides, strict=True))
    fan_in = like[0].numel()
    return torch.as_strided(torch.randn(length) / fan_in**0.5, like.shape, strides)
